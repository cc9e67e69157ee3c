#include "examples/c/fashion_compare.h"

#include <float.h>
#include <math.h>

#include "examples/c/must.h"

enum { kMaxSteps = 100, kRunners = 3 };

/* Maximum ratio of the difference between two devices to the difference that one perturbation of
 * the weights causes. It is large because each step on a device adds rounding errors, but the
 * weights are perturbed only once. */
static const double kAllowance = 32;

typedef struct runner {
  char name[64];
  tenon_scope* scope;
  device_set set;
  network* net;
  course course;
  double losses[kMaxSteps];
} runner;

static void name_of(tenon_scope* scope, char* name, size_t size) {
  tenon_device* device = NULL;
  tenon_device_info info = {0};
  info.struct_size = sizeof info;
  must(tenon_scope_get_device(scope, &device));
  must(tenon_device_describe(device, &info));
  snprintf(name, size, "%s", info.name.data);
  tenon_device_release(device);
}

static void start(runner* r, tenon_context* context, tenon_string device,
                  const fashion_options* options, const image_set* images) {
  must(tenon_scope_create(context, device, &r->scope));
  name_of(r->scope, r->name, sizeof r->name);
  r->set = device_set_upload(r->scope, images);
  r->net = network_create(r->scope, options->seed);
  r->course = course_start(options, r->set.count);
}

static void stop(runner* r) {
  course_free(&r->course);
  network_free(r->net);
  device_set_release(&r->set);
  tenon_scope_release(r->scope);
}

typedef struct distance {
  double most; /* The largest relative difference between two losses of one step. */
  size_t step;
} distance;

static distance between(const runner* a, const runner* b, size_t steps) {
  distance d = {0, 1};
  for (size_t i = 0; i < steps; ++i) {
    const double apart = fabs(a->losses[i] - b->losses[i]) / fabs(b->losses[i]);
    /* NaN counts as the largest difference. */
    if (apart <= d.most || isnan(d.most)) continue;
    d.most = apart;
    d.step = i + 1;
  }
  return d;
}

static bool print(const runner* here, const runner* there, const runner* off, size_t steps) {
  const distance devices = between(here, there, steps);
  const distance rounding = between(off, there, steps);
  printf("the first %zu steps on %s and on %s, and there from weights one rounding off:\n", steps,
         here->name, there->name);
  printf("%6s  %14s  %14s  %14s\n", "step", here->name, there->name, "one off");
  for (size_t i = 0; i < steps; ++i) {
    if (i && (i + 1) % 10) continue;
    printf("%6zu  %14.9f  %14.9f  %14.9f\n", i + 1, here->losses[i], there->losses[i],
           off->losses[i]);
  }
  printf("losses of the devices differ by at most %.1e of themselves, at step %zu; ", devices.most,
         devices.step);
  printf("those of weights one rounding off by %.1e, at step %zu\n", rounding.most, rounding.step);
  fflush(stdout);
  return devices.most <= kAllowance * fmax(rounding.most, FLT_EPSILON);
}

bool fashion_compare(tenon_scope* scope, const fashion_options* options, const image_set* images) {
  tenon_context* context = tenon_scope_context(scope);
  runner* runners = allocate(kRunners * sizeof *runners);
  start(&runners[0], context, tenon_str(options->device), options, images);
  start(&runners[1], context, tenon_str(options->compare), options, images);
  start(&runners[2], context, tenon_str(options->compare), options, images);
  network_perturb_weights(runners[2].net, options->seed + 1, (double)FLT_EPSILON);

  const size_t all = runners[0].course.all;
  const size_t steps = all < kMaxSteps ? all : kMaxSteps;
  for (size_t i = 0; i < steps; ++i) {
    for (size_t k = 0; k < kRunners; ++k) {
      runner* r = &runners[k];
      r->losses[i] = course_step(&r->course, r->net, &r->set);
    }
  }
  const bool agree = print(&runners[0], &runners[1], &runners[2], steps);
  for (size_t k = 0; k < kRunners; ++k) stop(&runners[k]);
  free(runners);
  return agree;
}
