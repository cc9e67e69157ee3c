#!/bin/sh
# Trains a convolutional network on Fashion-MNIST and prints its test accuracy
#
#   ./dev demo [--device NAME] [--fallback HOW] [--epochs N] [--batch N] [--seed N] [--save FILE] [--data FOLDER] ...
#
# Installs dependencies, builds, and runs examples/c/fashion.c. That writes fashion.html, and saves
# the network as a program for `tenon run`. `./dev demo --help` lists all options.
. tools/dev/lib.sh

part=
for argument; do
  case $argument in vulkan* | --device=vulkan*) part=--vulkan ;; esac
done
setup $part
configure release
build release --target fashion
exec build/release/bin/fashion "$@"
