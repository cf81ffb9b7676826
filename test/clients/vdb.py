"""Opens volumes that Firn writes in Blender, and compares them with sums over the particles. Has Firn read
what OpenVDB writes.

    python vdb.py PROGRAM [FOLDER]

PROGRAM is build/firn. Runs in a Python that has bpy (5.0 or later), which brings openvdb."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import bpy
import mathutils

bpy.utils.expose_bundled_modules()
import openvdb

VOXEL = 0.05


def spline(x):
    x = abs(x)
    return 0.75 - x * x if x < 0.5 else 0.5 * (1.5 - x) ** 2 if x < 1.5 else 0.0


def make_particles(path):
    """A ball of particles off the origin; returns (P, v, mass, temperature) of each."""
    random.seed(3)
    particles = []
    while len(particles) < 2000:
        p = [random.uniform(-0.4, 0.4) for _ in range(3)]
        if sum(x * x for x in p) > 0.16:
            continue
        at = [float("%.7g" % (x + d)) for x, d in zip(p, (1.0, 0.5, -0.25))]
        v = [float("%.7g" % (3 * x)) for x in (-p[1], p[0], 0.5)]
        particles.append((at, v, 0.125, float("%.7g" % (273 + 10 * p[1]))))
    with open(path, "w") as f:
        f.write("x,y,z,vx,vy,vz,mass,temperature\n")
        for at, v, mass, heat in particles:
            f.write(",".join(repr(x) for x in at + v + [mass, heat]) + "\n")
    return particles


def expected(particles, voxel):
    """Density, velocity and temperature of a voxel by the definition."""
    mass, momentum, heat = 0.0, [0.0] * 3, 0.0
    for at, v, m, t in particles:
        share = m
        for a in range(3):
            share *= spline(at[a] / VOXEL - voxel[a])
        mass += share
        momentum = [q + share * u for q, u in zip(momentum, v)]
        heat += share * t
    if mass == 0:
        return 0.0, [0.0] * 3, 0.0
    return mass / VOXEL**3, [q / mass for q in momentum], heat / mass


def check_values(path, particles, half):
    """Values by the openvdb module that Blender brings."""
    near = 2e-3 if half else 2e-6
    grids = {g.name: g for g in openvdb.readAll(path)[0]}
    assert set(grids) == {"density", "v", "temperature"}, grids.keys()
    density, v, heat = (grids[n].getConstAccessor() for n in ("density", "v", "temperature"))
    assert grids["density"].gridClass == "fog volume"
    assert grids["density"].metadata["is_saved_as_half_float"] == half
    total = sum(i.value for i in grids["density"].citerOnValues() if i.count == 1) * VOXEL**3
    mass = sum(p[2] for p in particles)
    assert abs(total - mass) < near * mass, (total, mass)
    for n in range(200):
        voxel = tuple(round(x / VOXEL) + (n // 7**a) % 3 - 1
                      for a, x in enumerate(particles[n * 7][0]))
        rho, velocity, temperature = expected(particles, voxel)
        assert math.isclose(density.getValue(voxel), rho, rel_tol=near, abs_tol=near), voxel
        for got, want in zip(v.getValue(voxel), velocity):
            assert abs(got - want) < near * 10, (voxel, got, want)
        assert abs(heat.getValue(voxel) - temperature) < near * 300, voxel
    print("vdb: openvdb %s finds %d voxels, mass %.6f of %.6f kg, 200 voxels as computed"
          % (".".join(map(str, openvdb.LIBRARY_VERSION)),
             grids["density"].activeVoxelCount(), total, mass))


def check_blender(path, particles):
    """Grids, voxels and bounds as Blender has them."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.object.volume_import(filepath=path, align="WORLD", location=(0, 0, 0))
    ob = bpy.context.object
    volume = ob.data
    assert volume.grids.load(), volume.grids.error_message
    names = sorted(g.name for g in volume.grids)
    assert names == ["density", "temperature", "v"], names
    kinds = {g.name: g.data_type for g in volume.grids}
    assert kinds["density"] == "FLOAT" and kinds["v"] == "VECTOR_FLOAT", kinds
    for g in volume.grids:
        g.load()
        for a in range(3):
            assert abs(g.matrix_object[a][a] - VOXEL) < 1e-6, g.matrix_object
    bpy.context.view_layer.update()
    corners = [ob.matrix_world @ mathutils.Vector(c) for c in ob.bound_box]
    for a in range(3):
        low, high = min(c[a] for c in corners), max(c[a] for c in corners)
        # Blender's are those of blocks of 8 voxels.
        least = math.floor(min(p[0][a] for p in particles) / VOXEL - 0.5) // 8 * 8 - 0.5
        most = (math.floor(max(p[0][a] for p in particles) / VOXEL - 0.5) + 2) // 8 * 8 + 7.5
        assert math.isclose(low, least * VOXEL, abs_tol=1e-6), (a, low, least)
        assert math.isclose(high, most * VOXEL, abs_tol=1e-6), (a, high, most)
    print("vdb: Blender %s imports %s, voxels of %g m, bounds of the particles' blocks"
          % (bpy.app.version_string, ", ".join(names), VOXEL))


def check_reading(program, path):
    """What `firn info` says of a file that OpenVDB has written."""
    turned = openvdb.createLinearTransform(
        [[0, 0.5, 0, 0], [-0.5, 0, 0, 0], [0, 0, 0.5, 0], [1, 2, 3, 1]])
    grids = [openvdb.createLevelSetSphere(radius=2.0, center=(1, 0, -3), voxelSize=0.1)]
    grids[0].name = "ball"
    for name, kind, value in (("on", openvdb.BoolGrid, True), ("wide", openvdb.DoubleGrid, 2.5),
                              ("wind", openvdb.Vec3SGrid, (1, 2, 3)),
                              ("count", openvdb.Int32Grid, 7)):
        g = kind()
        g.name = name
        g.transform = turned
        g.fill((-20, 0, 5), (200, 17, 9), value)  # blocks, and tiles of two sizes
        grids.append(g)
    half = grids[0].deepCopy()
    half.name = "half"
    half.saveFloatAsHalf = True
    openvdb.write(path, grids + [half], metadata={"shot": "snow"})
    told = json.loads(subprocess.run([program, "info", "--json", path], check=True,
                                     capture_output=True).stdout)[0]
    assert told["metadata"]["shot"] == "snow", told["metadata"]
    volumes = {v["name"]: v for v in told["volumes"]}
    assert volumes["count"]["components"] == 0, volumes["count"]
    for g in grids + [half]:
        v = volumes[g.name]
        if g.name == "count":
            continue
        assert v["active"] == g.activeVoxelCount(), v
        corners = [g.transform.indexToWorld([b[i >> a & 1][a] for a in range(3)])
                   for b in (g.evalActiveVoxelBoundingBox(),) for i in range(8)]
        for a in range(3):
            assert abs(v["low"][a] - min(c[a] for c in corners)) < 1e-6, v
            assert abs(v["high"][a] - max(c[a] for c in corners)) < 1e-6, v
    for g in (grids[0], half):
        least, most = g.evalMinMax()
        near = 1e-3 if g is half else 1e-6
        assert abs(volumes[g.name]["min"][0] - least) < near, volumes[g.name]
        assert abs(volumes[g.name]["max"][0] - most) < near, volumes[g.name]
    assert volumes["on"]["min"] == volumes["on"]["max"] == [1], volumes["on"]
    assert volumes["wide"]["min"] == [2.5] and volumes["wind"]["max"] == [1, 2, 3]
    print("vdb: Firn reads what openvdb writes: %s" % ", ".join(sorted(volumes)))


def main():
    program = os.path.abspath(sys.argv[1])
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="firn_vdb.")
    table = os.path.join(folder, "ball.csv")
    particles = make_particles(table)
    for half in (False, True):
        path = os.path.join(folder, "half.vdb" if half else "ball.vdb")
        subprocess.run([program, "convert", table, path, "--voxel", str(VOXEL)]
                       + (["--half"] if half else []), check=True)
        check_blender(path, particles)
        check_values(path, particles, half)
    check_reading(program, os.path.join(folder, "others.vdb"))


main()
