"""What the scripts here share: Blender (bpy), the program, comparisons.

    python SCRIPT.py PROGRAM FOLDER

PROGRAM is build/firn; FOLDER receives the files. Each script prints what it compares and ends at the first difference.
Blender has Z up and Firn's files have Y up: (x, y, z) there is (x, z, -y) here.
"""

import csv
import math
import os
import subprocess
import sys

import bpy
import numpy as np

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(os.path.abspath(sys.argv[1]))
OUT = os.path.abspath(sys.argv[2])


def run(program, *arguments):
    """What a program of the build prints; it works in OUT."""
    done = subprocess.run([os.path.join(BUILD, program), *arguments], cwd=OUT, capture_output=True, text=True)
    assert done.returncode == 0, f"{program} {' '.join(arguments)}: exit {done.returncode}\n{done.stderr}"
    return done.stdout


def check(what, ok, seen=""):
    print(f"  {what}{': ' if seen != '' else ''}{seen}")
    assert ok, what


def check_close(what, ours, theirs, limit):
    """The largest difference of two arrays, which is at most `limit`."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    assert ours.shape == theirs.shape, f"{what}: {ours.shape} and {theirs.shape}"
    error = float(np.abs(ours - theirs).max()) if ours.size else 0.0
    check(what, error <= limit, f"{ours.shape[0]} values, off by at most {error:.1e} (limit {limit:.0e})")


def y_up(v):
    return np.stack([v[..., 0], v[..., 2], -v[..., 1]], axis=-1)


def new_scene(fps):
    """An empty scene; fps may be a fraction, such as (24, 1.001)."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = fps if isinstance(fps, tuple) else (fps, 1)
    return scene


def go_to(scene, frame):
    """To a frame, which need not be whole."""
    whole = math.floor(frame + 1e-6)
    scene.frame_set(whole, subframe=max(0.0, frame - whole))
    return bpy.context.evaluated_depsgraph_get()


def import_alembic(path):
    """The objects of a file by name. Without as_background_job=False they would come later."""
    before = set(bpy.data.objects)
    bpy.ops.wm.alembic_import(filepath=os.path.join(OUT, path), as_background_job=False)
    return {o.name: o for o in bpy.data.objects if o not in before}


def values(collection, name, components):
    out = np.empty(len(collection) * components, np.float32)
    collection.foreach_get(name, out)
    return out.reshape(-1, components) if components > 1 else out


def world(matrix, positions):
    m = np.array(matrix)
    return positions @ m[:3, :3].T + m[:3, 3]


def mesh_at(depsgraph, object, matrix=None):
    """World positions (Y up) and faces of an object as Blender evaluates it."""
    evaluated = object.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    positions = world(matrix or evaluated.matrix_world, values(mesh.vertices, "co", 3).astype(float))
    faces = [tuple(p.vertices) for p in mesh.polygons]
    evaluated.to_mesh_clear()
    return y_up(positions), faces


def volume(positions, faces):
    """Of a closed mesh; positive if its faces are counter-clockwise seen from outside."""
    total = 0.0
    for face in faces:
        a = positions[face[0]]
        for b, c in zip(face[1:], face[2:]):
            total += np.dot(a, np.cross(positions[b], positions[c])) / 6
    return total


def read_table(path):
    """A CSV file of Firn's: columns by name, as P.x or temperature."""
    with open(os.path.join(OUT, path), newline="") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    return {name: np.array([float(row[k]) for row in rows[1:]]) for k, name in enumerate(rows[0])}


def columns(table, name, letters="xyz"):
    return np.stack([table[f"{name}.{letter}"] for letter in letters], axis=-1)
