#!/usr/bin/env bash
# Walks the table of doc/failures.md: each row's first cell is a function here, which makes that failure
# happen in an empty folder, and the exit code must be the row's. Rows that need to mount a file system are
# skipped where that is not allowed.
#   test/failures.sh PROGRAM SOURCE_DIR
firn=$(realpath "$1") source=$(realpath "$2")
top=$(mktemp -d)
trap 'cd /; rm -rf "$top"' EXIT
failed=0 passed=0 skipped=0

complain() { echo "$what: $*"; bad=1; }
expect_text() { grep -qF -- "$2" "$1" || complain "$1 lacks '$2': $(head -c 400 "$1")"; }
expect_same() { cmp -s "$1" "$2" || complain "$1 and $2 differ"; }
expect_frames() { # FIRST LAST: complete, as usual, and nothing unfinished
    for ((f = $1; f <= $2; f++)); do
        local name; name=$(printf 'out/x.%04d.csv' "$f")
        [ -s "$name" ] || complain "$name is missing"
        [ -d "$top/usual" ] && { cmp -s "$name" "$top/usual/$name" || complain "$name differs"; }
    done
    local rest; rest=$(find . -name '*.part' -o -name '*.lock')
    [ -z "$rest" ] || complain "left: $rest"
}

# FRAMES [LINE...]: s.yaml, with further lines at the end.
scene() {
    printf '%s\n' 'firn: 1' "frames: {end: $1, fps: 48}" 'resolution: 0.02' \
        'materials: {jelly: {preset: jelly}}' 'colliders: [{shape: {plane: {}}}]' \
        'objects: [{shape: {sphere: {radius: 0.1, center: [0, 0.2, 0]}}, material: jelly}]' \
        'output: [{file: out/x.$F4.csv}]' 'checkpoint: {every: 1, keep: 3, folder: states}' > s.yaml
    shift
    for line; do echo "$line" >> s.yaml; done
}
run() { "$firn" run s.yaml "$@" > out.txt 2> err.txt; }
# The same in the background, as process $first.
launch() { "$firn" run s.yaml "$@" > out.txt 2> err.txt & first=$!; }
# Three frames more than the newest checkpoint, however far the run came.
resume() {
    local newest; newest=$(ls states | tail -1)
    newest=${newest%.ckpt}; newest=$((10#${newest##*.} + 3))
    run --resume --frames 1:$newest || complain "resume: $(cat err.txt)"
    expect_frames 1 $((newest < 30 ? newest : 30))
}
# PID TEXT: until out.txt has the text or the process has ended.
wait_for() {
    for _ in {1..3000}; do grep -qs "$2" out.txt || ! kill -0 "$1" 2> /dev/null && return; sleep 0.01; done
    complain "waited for '$2' in vain"
}
# In a mount namespace with a file system of SIZE at `disk`, runs the function.
on_disk() {
    local size=$1 inner=$2
    mkdir disk
    unshare -m true 2> /dev/null && unshare -m mount -t tmpfs none disk 2> /dev/null || return 77
    export -f "$inner" complain scene run launch resume wait_for expect_text expect_frames expect_same
    what=$what firn=$firn top=$top unshare -m bash -c "
        mount -t tmpfs -o size=$size none disk; cd disk; bad=0; $inner; code=\$?; [ \$bad = 0 ] || exit 99; exit \$code"
}

the_command_line_is_wrong() { "$firn" run --no-such 2> err.txt; }
a_scene_is_wrong() {
    scene 2 'colour: red'
    run; local code=$?
    expect_text err.txt 's.yaml:9:1: '
    [ -e out ] && complain "made a folder"
    return $code
}
a_scene_is_a_pipe_or_a_device() {
    mkfifo s.yaml
    timeout 20 "$firn" run /dev/zero 2> err.txt; [ $? = 3 ] || complain "/dev/zero: $(cat err.txt)"
    timeout 20 "$firn" run s.yaml 2> err.txt
}
includes_multiply_without_end() {
    scene 2
    for i in {1..14}; do # 8^14 files
        local next=$((i + 1)).yaml
        echo "include: [$next, ./$next, ././$next, $next, ./$next, ././$next, $next, $next]" > $i.yaml
    done
    echo 'seed: 1' > 15.yaml
    echo 'include: 1.yaml' >> s.yaml
    timeout 20 "$firn" run s.yaml > out.txt 2> err.txt
}
a_particle_file_is_cut_short() {
    head -c 300 "$top/usual/out/x.0003.csv" | head -c -5 > cut.csv
    sed -i '$s/,[^,]*$//' cut.csv
    scene 2
    sed -i 's/{shape.*center.*}}, /{particles: cut.csv, /' s.yaml
    run; local code=$?
    expect_text err.txt 'cut.csv'
    [ -e out ] && complain "made a folder"
    return $code
}
a_scene_wants_more_particles_than_memory_holds() {
    scene 2
    (ulimit -v 4000000; run --set objects.0.count=1e8); local code=$?
    expect_text err.txt 's.yaml:6:'
    return $code
}
memory_runs_out() {
    scene 2000
    launch
    wait_for $first 'frame 3/'
    prlimit --as=1000000 -p $first 2> /dev/null || return 77
    wait $first; local code=$?
    expect_text err.txt 'memory'
    resume
    return $code
}
the_stack_is_too_small() { (ulimit -s 64; "$firn" list > out.txt 2> err.txt); }
steps_would_have_to_be_too_short() {
    scene 30
    run --set simulation.dt_min=0.005 --set materials.jelly.young=1e9
}
a_name_has_control_characters() {
    scene 2
    sed -i 's#out/x#"out/\\x07x#; s#csv}#csv"}#' s.yaml
    run; local code=$?
    expect_text err.txt 's.yaml:7:'
    return $code
}
two_outputs_have_one_name() {
    scene 2 'statistics: ./out/../out/x.0002.csv'
    run; local code=$?
    expect_text err.txt 's.yaml:9:1: '
    expect_text err.txt 's.yaml:7:11'
    [ -e out ] && complain "made a folder"
    return $code
}
an_output_is_a_file_that_the_scene_reads() {
    scene 2 'statistics: s.yaml'
    cp s.yaml before.yaml
    run; local code=$?
    expect_same s.yaml before.yaml
    return $code
}
another_run_writes_the_same_files() {
    scene 2000
    "$firn" run s.yaml > out.txt 2> first.txt & local first=$!
    wait_for $first 'frame 2/'
    "$firn" run s.yaml --frames 1:3 > second.txt 2> err.txt; local code=$?
    kill -9 $first; wait $first 2> /dev/null
    expect_text err.txt "s.yaml:7:"
    expect_text err.txt "process $first on $(uname -n)"
    return $code
}
a_killed_run_left_locks_and_unfinished_files() {
    scene 2000
    launch
    wait_for $first 'frame 3/'
    kill -9 $first; wait $first 2> /dev/null
    [ -e 'out/.x.$F4.csv.lock' ] || complain "the killed run left no lock"
    touch out/x.0002.csv.99999999.part states/scene.000002.ckpt.99999999.part out/mine.part out/x.0002.csv.part
    scene 4
    run; local code=$?
    expect_text err.txt 'taking over from process'
    [ -e out/mine.part ] && [ -e out/x.0002.csv.part ] || complain "removed files that are not its own"
    rm -f out/mine.part out/x.0002.csv.part
    expect_frames 1 4
    return $code
}
standard_input_is_closed() { scene 4; run <&-; local code=$?; expect_frames 1 4; return $code; }
standard_output_is_closed() {
    scene 10 # large enough that lines are printed while files are written
    "$firn" run s.yaml --hash --set resolution=0.008 > out.txt 2> err.txt
    mv out open; rm -r states
    "$firn" run s.yaml --hash --set resolution=0.008 >&- 2> err.txt; local code=$?
    diff -r open out || complain "files differ"
    return $code
}
standard_error_is_closed() {
    scene 4
    "$firn" run s.yaml > out.txt 2>&-; local code=$?
    expect_frames 1 4
    return $code
}
standard_output_is_full() {
    [ -e /dev/full ] || return 77
    "$firn" --version > /dev/full 2> err.txt; [ $? = 4 ] || complain "--version"
    expect_text err.txt 'standard output: No space left'
    scene 4
    "$firn" run s.yaml > /dev/full 2> err.txt; [ $? = 4 ] || complain "run"
    expect_frames 1 4
    "$firn" info out/x.0002.csv > /dev/full 2> err.txt
}
the_reader_of_a_pipe_leaves_a_listing() {
    "$firn" list 2> err.txt | true
    local code=${PIPESTATUS[0]}
    [ -s err.txt ] && complain "not quietly: $(cat err.txt)"
    return $code
}
the_reader_of_a_pipe_leaves_a_run() {
    scene 20
    "$firn" run s.yaml 2> err.txt | head -2 > out.txt
    local code=${PIPESTATUS[0]}
    expect_frames 1 20
    return $code
}
a_file_is_larger_than_its_limit_allows() {
    scene 4
    (ulimit -f 40; run); local code=$?
    expect_text err.txt 'File too large'
    expect_frames 1 0
    run --resume || complain "resume: $(cat err.txt)"
    expect_frames 1 4
    return $code
}
the_disk_is_full_from_the_start() {
    full() {
        scene 400
        "$firn" run s.yaml > /dev/null 2> err.txt; local code=$?
        expect_text err.txt 'the run takes at least'
        return $code
    }
    on_disk 1m full
}
the_disk_fills_up_during_a_run() {
    fills() {
        scene 600
        "$firn" run s.yaml > out.txt 2> ../err.txt & local first=$!
        wait_for $first 'frame 2/'
        head -c 200m /dev/zero > ballast 2> /dev/null
        wait $first; local code=$?
        expect_text ../err.txt 'No space left'
        expect_frames 1 1
        rm ballast
        resume
        return $code
    }
    on_disk 100m fills
}
the_output_folder_disappears_during_a_run() {
    scene 2000
    launch
    wait_for $first 'frame 2/'
    mv out gone
    wait $first; local code=$?
    expect_text err.txt 'No such file or directory'
    mv gone out
    resume
    return $code
}
the_output_folder_becomes_read_only() {
    read_only() {
        scene 2000
        launch
        wait_for $first 'frame 2/'
        mount -t tmpfs -o ro none out
        wait $first; local code=$?
        expect_text err.txt 'out/x.' # a file that was open cannot be renamed, or the next not be made
        umount out
        rm -f out/*.part
        resume
        return $code
    }
    on_disk 1g read_only
}
Ctrl_C_SIGTERM_or_a_closed_terminal() {
    scene 2000
    launch
    wait_for $first 'frame 3/'
    kill -HUP $first; wait $first; [ $? = 130 ] || complain "SIGHUP"
    launch --resume
    wait_for $first frame
    kill -TERM $first; wait $first; local code=$?
    expect_text err.txt 'the same with --resume goes on'
    resume
    return $code
}
SIGKILL() {
    scene 2000
    launch
    wait_for $first 'frame 3/'
    kill -9 $first; wait $first 2> /dev/null; local code=$?
    resume
    return $code
}
# Three frames more than the newest checkpoint, whose one file is as that of an undisturbed run.
resume_sequence() {
    local newest; newest=$(ls states | tail -1)
    newest=${newest%.ckpt}; newest=$((10#${newest##*.} + 3))
    run --resume --frames 1:$newest || complain "resume: $(cat err.txt)"
    mv out/x.abc resumed.abc; rm -r states
    run --frames 1:$newest || complain "undisturbed: $(cat err.txt)"
    expect_same resumed.abc out/x.abc
    local rest; rest=$(find . -name '*.part' -o -name '*.lock')
    [ -z "$rest" ] || complain "left: $rest"
}
sequence() { scene "$1"; sed -i 's#out/x.$F4.csv#out/x.abc#' s.yaml; }
Ctrl_C_while_one_file_takes_all_frames() {
    sequence 2000
    launch
    wait_for $first 'frame 3/'
    kill -INT $first; wait $first; local code=$?
    "$firn" info out/x.abc > info.txt || complain "the file cannot be read"
    expect_text info.txt 'frames 1 to '
    resume_sequence
    return $code
}
SIGKILL_while_one_file_takes_all_frames() {
    sequence 2000
    launch
    wait_for $first 'frame 3/'
    kill -9 $first; wait $first 2> /dev/null; local code=$?
    [ -e out/x.abc.part ] || complain "there is no unfinished file"
    [ -e out/x.abc ] && complain "there is a finished file"
    resume_sequence
    return $code
}
the_disk_fills_up_under_a_file_of_all_frames() {
    export -f sequence resume_sequence
    fills_sequence() {
        sequence 600
        "$firn" run s.yaml > out.txt 2> ../err.txt & local first=$!
        wait_for $first 'frame 2/'
        head -c 200m /dev/zero > ballast 2> /dev/null
        wait $first; local code=$?
        expect_text ../err.txt 'No space left'
        rm ballast
        resume_sequence
        return $code
    }
    on_disk 100m fills_sequence
}
all_checkpoints_are_later_than_the_last_frame() {
    scene 12
    run
    run --resume --frames 1:6; local code=$?
    expect_text err.txt 'the checkpoints are of frames 10 to 12'
    [ -e states/scene.000012.ckpt ] || complain "lost a checkpoint"
    return $code
}
an_output_is_a_device() {
    mknod device c 1 3 2> /dev/null || return 77 # as /dev/null
    scene 2 'statistics: device'
    run; local code=$?
    [ -c device ] || complain "replaced the device"
    return $code
}
the_disk_fills_up_under_a_video() {
    command -v ffmpeg > /dev/null || return 77
    small() {
        head -c 290k /dev/zero > ballast
        "$firn" render "$top/usual/out" --quality draft --size 640x360 --quiet --out x.mp4 2> ../err.txt
        local code=$?
        [ -e x.mp4 ] && complain "left a video"
        return $code
    }
    on_disk 300k small
}
the_newest_checkpoint_is_damaged() {
    scene 4
    run
    printf 'x' | dd of=states/scene.000004.ckpt bs=1 seek=2000 conv=notrunc 2> /dev/null
    rm out/x.0004.csv
    run --resume; local code=$?
    expect_text err.txt 'trying an older one'
    expect_text err.txt 'continuing from frame 3'
    expect_frames 1 4
    return $code
}

# What an undisturbed run writes.
mkdir "$top/usual" && cd "$top/usual" && scene 30 && run || { cat err.txt; exit 1; }

walk() {
    local row='^\| ([A-Za-z][^|]*) \| [^|]* \| ([0-9]+) \|$' rows=()
    while IFS= read -r line; do
        [[ $line =~ $row ]] || continue
        what=${BASH_REMATCH[1]} want=${BASH_REMATCH[2]} bad=0
        local name=${what//,/}; name=${name//[ -]/_}
        rows+=("$name")
        declare -F "$name" > /dev/null || { complain "the row has no test"; failed=$((failed + 1)); continue; }
        mkdir "$top/now" && cd "$top/now" || exit 1
        "$name"; local code=$?
        if [ $code = 77 ]; then skipped=$((skipped + 1)); echo "skipped: $what"
        else
            [ $code = "$want" ] || complain "exit $code, not $want: $(cat err.txt 2> /dev/null)"
            [ $bad = 0 ] && passed=$((passed + 1)) || failed=$((failed + 1))
        fi
        cd /; rm -rf "$top/now"
    done < "$source/doc/failures.md"
    [ ${#rows[@]} -gt 10 ] || { echo "the table of doc/failures.md was not found"; failed=1; }
}
walk
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
