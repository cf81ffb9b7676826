#!/usr/bin/env python3
"""How far drafts are from finals: the table of "Draft and final" in doc/materials.md.

    tools/resolution.py [--firn build/firn] [--folder out/resolution] [--plain | --stiffness] [SCENE...]

runs scenes at one, two and four times their draft's resolution and prints what differs, as Markdown.
Runs that are in the folder already are not repeated: give --plain a folder of its own. Needs python3-numpy.
All together take more than half an hour on two cores, most of it for snow at the finest.
"""
import argparse
import pathlib
import subprocess

import numpy

SCENES = pathlib.Path(__file__).resolve().parent.parent / "scenes"

FLAT = ["dimension=2", "objects.ball.shape={disc: {center: [0, 0.3], radius: 0.14}}"]

# name: (scene, material, draft resolution in m, what differs from the file)
CASES = {
    "snowball_wall": ("snowball_wall", "snow_wet", 0.02, []),
    "snowball_plane": ("snowball_plane", "snow", 0.02, ["frames.end=25"]),
    "snowball_slow": ("snowball_plane", "snow", 0.02, ["frames.end=25", "objects.ball.velocity=[1, -2, 0]"]),
    "flat_slope": ("snowball_slope", "snow", 0.02, ["frames.end=25", "dimension=2",
                   "objects.ball.shape={disc: {center: [-0.5, 0.75], radius: 0.14}}"]),
    **{f"flat_{kind}": ("snowball_plane", f"snow_{kind}", 0.02,
                        FLAT + ["frames.end=17", f"materials.snow.preset=snow_{kind}"])
       for kind in ("powder", "packed", "icy", "chunky")},
    "sand_column": ("sand_column", "sand", 0.02, []),
    "mud_column": ("sand_column", "mud", 0.03, ["materials.sand.preset=mud", "colliders.ground.friction=0.5",
                                                "colliders.ground.boundary=separate"]),
    "clay_stamp": ("clay_stamp", "clay", 0.016, []),
    "watermelon": ("watermelon", "watermelon", 0.025, []),
    "ball": ("ball", "jelly_hard", 0.05, ["objects.ball.pattern=regular"]),
    "dam_break": ("dam_break", "water", 0.04, []),
}
FINER = (1, 2, 4)


def run(options, name, scene, settings):
    """Positions of the particles, frame by frame: a list of arrays of n x 3."""
    folder = options.folder / name
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "done"
    if not done.exists():
        command = [options.firn, "run", SCENES / f"{scene}.yaml", "--quiet"]
        files = [f"output=[{{file: '{folder}/$F4.ply', attributes: [P]}}]", "checkpoint.every=0"]
        for one in settings + files:
            command += ["--set", one]
        subprocess.run(command, check=True)
        done.touch()
    return [positions(file) for file in sorted(folder.glob("*.ply"))]


def positions(file):
    header, _, points = file.read_bytes().partition(b"end_header\n")
    assert b"binary_little_endian" in header, file
    return numpy.frombuffer(points, "<f4").reshape(-1, 3).astype(float)


def measure(frames):
    """Where the middle goes, and how far and how high the material lies at the end but for 5 %."""
    middle = numpy.array([p.mean(axis=0) for p in frames])
    away = frames[-1] - middle[0]
    return {
        "middle": middle,
        "run-out": numpy.quantile(numpy.hypot(away[:, 0], away[:, 2]), 0.95),
        "height": numpy.quantile(frames[-1][:, 1], 0.95),
        "reach": max(numpy.quantile(numpy.linalg.norm(p - middle[0], axis=1), 0.95) for p in frames),
    }


def compare(draft, final):
    """Run-out, height and the largest distance of the middles on their way, in % of the final's reach."""
    apart = numpy.linalg.norm(draft["middle"] - final["middle"], axis=1).max()
    return [100 / final["reach"] * x for x in (
        draft["run-out"] - final["run-out"], draft["height"] - final["height"], apart)]


def compare_scenes(options):
    print("| scene | material | particles | reach, m | run-out, % | height, % | middle, % |")
    print("|-|-|-|-|-|-|-|")
    for name in options.scene or CASES:
        scene, material, coarse, settings = CASES[name]
        runs = []
        for times in FINER:
            finer = [f"resolution={coarse / times}"]
            if not options.plain:
                finer.append(f"final_resolution={coarse / FINER[-1]}")
            runs.append(run(options, f"{name}/{times}", scene, settings + finer))
        *drafts, final = [measure(frames) for frames in runs]
        differences = zip(*(compare(draft, final) for draft in drafts))
        cells = [", ".join(f"{len(frames[-1]):,}" for frames in runs), f"{final['reach']:.2f}"]
        cells += ["; ".join(f"{x:.1f}" for x in pair) for pair in differences]
        print("|", " | ".join([name, f"`{material}`"] + cells), "|", flush=True)


def compare_stiffness(options):
    print("| `young`, Pa | draft | twice as fine | four times |")
    print("|-|-|-|-|")
    for young in (3.5e4, 1.4e5, 5.6e5):
        cells = []
        for times in FINER:
            settings = ["frames.end=25", "objects.ball.velocity=[0, -2, 0]", f"resolution={0.02 / times}",
                        f"materials.snow.young={young}"]
            found = measure(run(options, f"young/{young:g}/{times}", "snowball_plane", FLAT + settings))
            cells.append(f"{found['middle'][-1][1]:.2f}; {found['run-out']:.2f}")
        print("|", " | ".join([f"{young:g}"] + cells), "|", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--firn", default="build/firn", help="the program")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("out/resolution"))
    parser.add_argument("--plain", action="store_true", help="without final_resolution")
    parser.add_argument("--stiffness", action="store_true", help="resolution against stiffness instead")
    parser.add_argument("scene", nargs="*", help=", ".join(CASES))
    options = parser.parse_args()
    for name in set(options.scene) - set(CASES):
        parser.error(f"there is no {name}; there are " + ", ".join(CASES))
    (compare_stiffness if options.stiffness else compare_scenes)(options)


if __name__ == "__main__":
    main()
