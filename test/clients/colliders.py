"""Blender's moving meshes in a running scene: what they hold moves as they do, and what they grow into is gone."""

import os
import shutil

import numpy as np

from blender import OUT, SOURCE, check, check_close, columns, go_to, mesh_at, new_scene, read_table, run, y_up
from from_blender import LAST, animate, cube, export

FPS = 24


def make_meshes():
    """A box that moves and turns, and one whose shape key swells it unevenly."""
    scene = new_scene(FPS)
    carrier = cube("carrier", scale=0.25)
    animate(carrier, "location", (0, 0, 0.5), (1, 0.5, 1))
    animate(carrier, "rotation_euler", (0, 0, 0), (0.4, -0.3, 1.2))
    grower = cube("grower", scale=0.105)  # ends between particles
    grower.location = (0, 0, -1)
    grower.shape_key_add(name="Basis")
    large = grower.shape_key_add(name="large")
    for point in large.data:
        point.co = [4 * point.co[0], 3 * point.co[1], 2 * point.co[2]]
    animate(large, "value", 0.0, 1.0)
    export("colliders.abc")
    return scene, carrier, grower


def rotation(matrix):
    """Of a rigid matrix, with Y up on both sides."""
    return y_up(y_up(np.array(matrix)[:3, :3].T).T)


def spin(turn):
    """Axis times angle of a rotation by less than half a turn."""
    axis = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
    sine = np.linalg.norm(axis)
    return axis * (np.arcsin(sine) / sine if sine > 0 else 1)


def pose_at(scene, object, frame):
    matrix = object.evaluated_get(go_to(scene, frame)).matrix_world
    return rotation(matrix), y_up(np.array(matrix.translation))


def compare_carried(scene, carrier, tables):
    first = {int(i): x for i, x, o in zip(tables[1]["id"], columns(tables[1], "P"), tables[1]["object"]) if o == 0}
    start, begin = pose_at(scene, carrier, 1)
    for frame in (2, 5, LAST):
        rows = tables[frame]["object"] == 0
        rest = np.array([first[int(i)] for i in tables[frame]["id"][rows]])
        before, from_where = pose_at(scene, carrier, frame - 1)
        after, where = pose_at(scene, carrier, frame)
        expected = (rest - begin) @ (after @ start.T).T + where
        positions = columns(tables[frame], "P")[rows]
        check_close(f"frame {frame}: positions of particles that a moving mesh holds (m)", positions, expected, 1e-3)
        velocity = (where - from_where) * FPS + np.cross(spin(after @ before.T) * FPS, positions - where)
        check_close(f"frame {frame}: their velocities (m/s)", columns(tables[frame], "v")[rows], velocity, 1e-4)


def compare_swallowed(scene, grower, tables):
    """The mesh only grows, so what is left are the particles outside of it as it is."""
    field = columns(tables[1], "P")[tables[1]["object"] == 1]
    for frame in (2, 5, LAST):
        corners = mesh_at(go_to(scene, frame), grower)[0]
        low, high = corners.min(axis=0), corners.max(axis=0)
        inside = ((field > low) & (field < high)).all(axis=1)
        left = int((tables[frame]["object"] == 1).sum())
        check(f"frame {frame}: particles outside of a growing mesh", left == len(field) - int(inside.sum()),
              f"{left} of {len(field)}")


if __name__ == "__main__":
    scene, carrier, grower = make_meshes()
    shutil.copy(os.path.join(SOURCE, "test/clients/colliders.yaml"), OUT)
    run("firn", "run", "colliders.yaml")
    tables = {frame: read_table(f"colliders.{frame:04d}.csv") for frame in (1, 2, 5, LAST)}
    compare_carried(scene, carrier, tables)
    compare_swallowed(scene, grower, tables)
