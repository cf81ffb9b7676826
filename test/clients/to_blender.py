"""Firn's Alembic and PLY files in Blender: every value that Blender shows is that of the CSV file of the same run."""

import os
import shutil

import bpy
import numpy as np

from blender import (OUT, SOURCE, check, check_close, columns, go_to, import_alembic, mesh_at, new_scene, read_table,
                     run, values, volume, world, y_up)

FPS, LAST = 30, 12
# What Blender keeps of points: floats with up to three components. Ids, whole numbers and matrices it drops.
FLOATS = ("mass", "J", "Jp", "density", "pressure", "temperature", "liquid", "enthalpy", "concentration", "age",
          "tag")
DROPPED = ("id", "source_id", "material", "object", "F")


def run_scene():
    """Runs scene.yaml, whose file of particles has 27 points 2 cm apart with attributes of their own; ids fall."""
    rows = ["P.x,P.y,P.z,id,age,tag,Cd.r,Cd.g,Cd.b"]
    for k in range(27):
        x, y, z = (0.02 * (k // n % 3) for n in (1, 3, 9))
        rows.append(f"{x},{y},{z},{1000 - k},{0.25 * k},{k - 5},{k / 26},{1 - k / 26},0.5")
    with open(os.path.join(OUT, "own.csv"), "w") as file:
        file.write("\n".join(rows) + "\n")
    shutil.copy(os.path.join(SOURCE, "test/clients/scene.yaml"), OUT)
    run("firn", "run", "scene.yaml")


def cloud_at(depsgraph, object):
    """Attributes of a point cloud as Blender evaluates it; position and velocity in world space, Y up."""
    evaluated = object.evaluated_get(depsgraph)
    fields = {"FLOAT": ("value", 1), "INT": ("value", 1), "FLOAT_VECTOR": ("vector", 3), "FLOAT_COLOR": ("color", 4)}
    out = {a.name: values(a.data, *fields[a.data_type]).astype(float) for a in evaluated.data.attributes}
    out["position"] = y_up(world(evaluated.matrix_world, out["position"]))
    out["velocity"] = y_up(out["velocity"])
    return out


def compare_points(fps):
    """Our frame n is Blender's frame n x fps / 30. Points come in the order of the file, so rows tell ids."""
    scene = new_scene(fps)
    cloud = import_alembic("scene.abc")["particles"]
    print(f"scene.abc, 30 frames per second, in a scene of {fps}")
    check("frames that Blender sets", (scene.frame_start, scene.frame_end) == (1, round(LAST * fps / FPS)),
          f"{scene.frame_start} to {scene.frame_end}")
    counts, worst = [], dict.fromkeys(("position", "velocity", "radius", "Cd", *FLOATS), 0.0)
    for frame in range(1, LAST + 1):
        ours = read_table(f"scene.{frame:04d}.csv")
        theirs = cloud_at(go_to(scene, frame * fps / FPS), cloud)
        expected = {"position": columns(ours, "P"), "velocity": columns(ours, "v"), "radius": ours["pscale"],
                    **{name: ours[name] for name in FLOATS}}
        counts.append(len(theirs["position"]))
        assert counts[-1] == len(ours["id"]), f"frame {frame}: {counts[-1]} points, {len(ours['id'])} in the table"
        colour = np.concatenate([columns(ours, "Cd"), np.ones((counts[-1], 1))], axis=1)
        for name, value in {**expected, "Cd": colour}.items():
            scale = np.abs(value).max() or 1
            worst[name] = max(worst[name], float(np.abs(theirs[name] - value).max() / scale))
    check("points in frames 1 to 12", len(set(counts)) > 5, ", ".join(map(str, counts)))
    for name, error in worst.items():
        check(name, error < 1e-6, f"off by at most {error:.0e} of the largest")
    check(f"attributes that Blender drops: {', '.join(DROPPED)}", not any(name in theirs for name in DROPPED))
    return scene, cloud


def compare_between(scene, cloud):
    """Between two frames of ours Blender shows the first."""
    theirs = cloud_at(go_to(scene, 2), cloud)  # 2.5 of ours
    check_close("points at Blender's frame 2 are those of our frame 2", theirs["position"],
                columns(read_table("scene.0002.csv"), "P"), 1e-6)


def compare_ids():
    """Chosen particles, by their ids, in three frames: the same attributes of their own."""
    scene = new_scene(FPS)
    cloud = import_alembic("scene.abc")["particles"]
    own = read_table("own.csv")
    for frame in (1, 6, 12):
        table = read_table(f"scene.{frame:04d}.csv")
        theirs = cloud_at(go_to(scene, frame), cloud)
        for source in (1000, 990, 974):
            row = int(np.flatnonzero(table["source_id"] == source)[0])
            age = float(own["age"][np.flatnonzero(own["id"] == source)[0]])
            check(f"frame {frame}, the file's id {source}: age {age:g}", theirs["age"][row] == age,
                  f"at {np.round(theirs['position'][row], 3)}")


def compare_sequence():
    """One Alembic file per frame, imported with Is Sequence."""
    scene = new_scene(FPS)
    bpy.ops.wm.alembic_import(filepath=os.path.join(OUT, "single.0001.abc"), is_sequence=True, as_background_job=False)
    cloud = bpy.data.objects["particles"]
    for frame in (1, 7, 12):
        check_close(f"single.$F4.abc at frame {frame}", cloud_at(go_to(scene, frame), cloud)["position"],
                    columns(read_table(f"scene.{frame:04d}.csv"), "P"), 1e-6)


def compare_ply():
    """PLY brings whole numbers too, as floats. It says nothing about axes: tell Blender that Y is up."""
    new_scene(FPS)
    bpy.ops.wm.ply_import(filepath=os.path.join(OUT, "scene.0012.ply"), forward_axis="NEGATIVE_Z", up_axis="Y")
    object = bpy.context.object
    ours = read_table("scene.0012.csv")
    print("scene.0012.ply")
    check_close("positions", y_up(world(object.matrix_world, values(object.data.vertices, "co", 3).astype(float))),
                columns(ours, "P"), 1e-6)
    for name in ("id", "material", "object", "temperature", "liquid", "age", "tag"):
        check_close(name, values(object.data.attributes[name].data, "value", 1), ours[name], 1e-4)


def compare_mesh():
    """The box that meshes.c writes: where it should be at every frame, closed, with its faces outwards."""
    run("test/client_meshes", "write", "box.abc", str(FPS), str(LAST))
    for fps in (24, 30):
        scene = new_scene(fps)
        box = import_alembic("box.abc")["box"]
        print(f"box.abc, 30 frames per second, in a scene of {fps}")
        worst = 0.0
        for frame in range(1, LAST + 1):
            positions, faces = mesh_at(go_to(scene, frame * fps / FPS), box)
            rest = np.array([(i & 1, 2 * (i >> 1 & 1), 3 * (i >> 2 & 1)) for i in range(8)], float)
            expected = (1 + 0.1 * frame) * rest + [0.5 * frame / FPS, 0, 0]
            worst = max(worst, float(np.abs(positions - expected).max()))
            inside = volume(positions, faces)
            assert abs(inside - 6 * (1 + 0.1 * frame) ** 3) < 1e-4, f"frame {frame}: a volume of {inside} m3"
        check("positions at frames 1 to 12; the volume is positive and right", worst < 1e-5, f"off by {worst:.0e} m")
    evaluated = box.evaluated_get(go_to(scene, 3))
    velocity = y_up(values(evaluated.data.attributes["velocity"].data, "vector", 3))
    check_close("velocities (m/s)", velocity, 0.1 * FPS * rest + [0.5, 0, 0], 1e-5)
    halfway = mesh_at(go_to(scene, 2.5), box)[0]
    check_close("positions between two frames are interpolated: the topology is constant", halfway,
                1.25 * rest + [0.5 * 2.5 / FPS, 0, 0], 1e-5)
    normals = y_up(values(evaluated.data.polygons, "normal", 3))
    centres = y_up(values(evaluated.data.polygons, "center", 3)) - 1.3 * rest.mean(axis=0) - [0.05, 0, 0]
    check("normals point outwards", bool((np.sum(normals * centres, axis=1) > 0).all()))


if __name__ == "__main__":
    run_scene()
    compare_points(30)
    compare_between(*compare_points(24))
    compare_ids()
    compare_sequence()
    compare_ply()
    compare_mesh()
