#!/bin/sh
# Trains a convolutional network on Fashion-MNIST; prints the test accuracy it reached
#
#   ./dev demo [--device NAME] [--fallback HOW] [--epochs N] [--batch N] [--seed N] [--save FILE] [--data FOLDER] ...
#
# Sets up, builds, and runs examples/c/fashion.c, which writes fashion.html, and the network as a program
# that `tenon run` runs. `./dev demo --help` lists all options.
. tools/dev/lib.sh

part=
for argument; do
  case $argument in vulkan* | --device=vulkan*) part=--vulkan ;; esac
done
setup $part
configure release
build release --target fashion
exec build/release/bin/fashion "$@"
