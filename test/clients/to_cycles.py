"""A frame of Firn's points in Cycles: coloured by an attribute, blurred by their velocities. Look at cycles*.png."""

import math
import os

import bpy
import numpy as np

from blender import OUT, check, go_to, import_alembic, new_scene
from to_blender import FPS, run_scene


def copy_attribute(cloud, name, copy):
    """By Geometry Nodes, because Cycles keeps `temperature`, `density`, `velocity` and `heat` for volumes."""
    tree = bpy.data.node_groups.new("copy", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    begin, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    named, store = tree.nodes.new("GeometryNodeInputNamedAttribute"), tree.nodes.new("GeometryNodeStoreNamedAttribute")
    named.inputs["Name"].default_value, store.inputs["Name"].default_value = name, copy
    tree.links.new(begin.outputs["Geometry"], store.inputs["Geometry"])
    tree.links.new(named.outputs["Attribute"], store.inputs["Value"])
    tree.links.new(store.outputs["Geometry"], end.inputs["Geometry"])
    cloud.modifiers.new("copy", "NODES").node_group = tree


def shade(cloud, attribute, low, high):
    """Blue where an attribute is at most `low`, red where it is at least `high`. The material belongs to the object,
    because the data of a file bring none."""
    material = bpy.data.materials.new("by_attribute")
    nodes, link = material.node_tree.nodes, material.node_tree.links.new
    value = nodes.new("ShaderNodeAttribute")
    value.attribute_name = attribute
    part = nodes.new("ShaderNodeMapRange")
    part.inputs["From Min"].default_value, part.inputs["From Max"].default_value = low, high
    ramp = nodes.new("ShaderNodeValToRGB")
    ramp.color_ramp.elements[0].color = (0.05, 0.25, 0.8, 1)
    ramp.color_ramp.elements[1].color = (0.9, 0.1, 0.02, 1)
    link(value.outputs["Fac"], part.inputs["Value"])
    link(part.outputs["Result"], ramp.inputs["Fac"])
    link(ramp.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"])
    cloud.data.materials.append(material)
    cloud.material_slots[0].link = "OBJECT"
    cloud.material_slots[0].material = material


def add(scene, name, data, location, rotation=(0, 0, 0)):
    object = bpy.data.objects.new(name, data)
    scene.collection.objects.link(object)
    object.location, object.rotation_euler = location, rotation
    return object


def light_and_look(scene):
    bpy.ops.mesh.primitive_plane_add(size=20)
    sun = bpy.data.lights.new("sun", "SUN")
    sun.energy, sun.angle = 3, 0.1
    add(scene, "sun", sun, (0, 0, 2), (0.7, 0.2, 0.5))
    scene.world = bpy.data.worlds.new("sky")
    scene.world.color = (0.6, 0.7, 0.8)
    scene.camera = add(scene, "eye", bpy.data.cameras.new("eye"), (0, -1.7, 0.75), (math.radians(70), 0, 0))
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = "CPU", 24, False
    scene.render.resolution_x, scene.render.resolution_y = 320, 180


def picture(scene, name):
    scene.render.filepath = os.path.join(OUT, name)
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(scene.render.filepath)
    pixels = np.array(image.pixels[:]).reshape(scene.render.resolution_y, scene.render.resolution_x, 4)
    bpy.data.images.remove(image)
    return pixels[..., :3]


def changed(a, b):
    """The part of the pixels that differ clearly."""
    return float((np.abs(a - b).max(axis=-1) > 0.15).mean())


def reddish(pixels):
    return float((pixels[..., 0] - pixels[..., 2] > 0.2).mean())


if __name__ == "__main__":
    run_scene()
    scene = new_scene(FPS)
    cloud = import_alembic("scene.abc")["particles"]
    light_and_look(scene)
    go_to(scene, 9)
    cloud.hide_render = True
    empty = picture(scene, "cycles_empty.png")
    cloud.hide_render = False
    copy_attribute(cloud, "temperature", "kelvin")
    shade(cloud, "kelvin", 271, 293)
    sharp = picture(scene, "cycles.png")
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = True, 1
    blurred = picture(scene, "cycles_blurred.png")
    check("pixels that show particles", changed(sharp, empty) > 0.02, f"{changed(sharp, empty):.1%}")
    check("pixels of warm particles", 0.005 < reddish(sharp) < changed(sharp, empty), f"{reddish(sharp):.1%}")
    check("pixels that motion blur changes", changed(blurred, sharp) > 0.005, f"{changed(blurred, sharp):.1%}")
