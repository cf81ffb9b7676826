/* Firn: a material point method engine. This header gathers the public API. */
#ifndef FIRN_H
#define FIRN_H

#include <firn/base.h>
#include <firn/collider.h>
#include <firn/host.h>
#include <firn/material.h>
#include <firn/mesh.h>
#include <firn/param.h>
#include <firn/sim.h>
#include <firn/track.h>

#endif
