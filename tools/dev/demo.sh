#!/bin/sh
# Trains a convolutional network on Fashion-MNIST; prints the test accuracy it reached
#
#   ./dev demo [--device NAME] [--epochs N] [--batch N] [--seed N] [--save FILE] [--data FOLDER] ...
#
# Sets up, builds, and runs examples/c/fashion.c, which writes fashion.html, and the network as a program
# that `tenon run` runs. `./dev demo --help` lists all options.
. tools/dev/lib.sh

vulkan=
for argument; do
  case $argument in vulkan* | --device=vulkan*) vulkan=yes ;; esac
done
if [ "$vulkan" ]; then
  setup --vulkan
  configure release -DTENON_VULKAN=ON
  build release --target fashion tenon_plugin_vulkan
else
  setup
  configure release
  build release --target fashion
fi
exec build/release/bin/fashion "$@"
