// Records, unions, lists of records and lists of arrays, as the header lays them out.

#include <string.h>

#include "check.h"
#include "forms.h"

static forms_error error;
static forms_memory *memory;
static double depths[] = {1.0, 2.0, 3.0, 4.0};

static forms_f64_1 vector(double *data, int64_t size) {
  forms_f64_1 made;
  made.data = data;
  made.shape[0] = size;
  return made;
}

static forms_i64_1 places(int64_t *data, int64_t size) {
  forms_i64_1 made;
  made.data = data;
  made.shape[0] = size;
  return made;
}

static void records(void) {
  forms_Site site = {2.0, 3, {depths, {2}}}, made;
  forms_Site_gradient gradient;
  double value = 0.0;
  CHECK(forms_volume_grad(memory, &site, &value, &gradient, &error) == FORMS_OK);
  CHECK(value == 9.0 && gradient.height == 3.0 && gradient.depths.data[1] == 1.0);
  CHECK(forms_made(memory, 4.0, &made, &error) == FORMS_OK);
  CHECK(made.height == 4.0 && made.count == 3 && made.depths.data[1] == 8.0);
  CHECK(forms_volume(NULL, &made, &value, &error) == FORMS_OK && value == 24.0);
  CHECK(forms_volume(NULL, NULL, &value, &error) == FORMS_INVALID);
  site.depths.data = NULL;
  CHECK(forms_volume(NULL, &site, &value, &error) == FORMS_INVALID);
  CHECK(strcmp(error.message, "site.depths is NULL") == 0);
}

static void record_lists(void) {
  double heights[] = {2.0, 3.0};
  int64_t counts[] = {1, 2};
  forms_Site_list sites;
  forms_Site_gradient_list gradient;
  double value = 0.0;
  sites.height = vector(heights, 2);
  sites.count = places(counts, 2);
  sites.depths.data = depths;
  sites.depths.shape[0] = 2;
  sites.depths.shape[1] = 2;
  CHECK(forms_volumes(NULL, &sites, &value, &error) == FORMS_OK && value == 18.0);
  CHECK(forms_volumes_grad(memory, &sites, &gradient, &error) == FORMS_OK);
  CHECK(gradient.height.data[1] == 2.0 && gradient.depths.shape[1] == 2);
  sites.count.shape[0] = 1;
  CHECK(forms_volumes(NULL, &sites, &value, &error) == FORMS_INVALID);
  CHECK(strcmp(error.message, "sites.count is longer or shorter") == 0);
}

static void unions(void) {
  forms_Disc_or_Outline shape, gradient;
  double value = 0.0;
  shape.tag = forms_Disc_or_Outline_is_Disc;
  shape.as.Disc.radius = 3.0;
  CHECK(forms_size(NULL, &shape, &value, &error) == FORMS_OK && value == 9.0);
  CHECK(forms_size_grad(memory, &shape, &gradient, &error) == FORMS_OK);
  CHECK(gradient.tag == shape.tag && gradient.as.Disc.radius == 6.0);
  shape.tag = forms_Disc_or_Outline_is_Outline;
  shape.as.Outline.points.data = depths;
  shape.as.Outline.points.shape[0] = 2;
  shape.as.Outline.points.shape[1] = 2;
  CHECK(forms_size_grad(memory, &shape, &gradient, &error) == FORMS_OK);
  CHECK(gradient.tag == shape.tag && gradient.as.Outline.points.data[3] == 8.0);
  shape.tag = 2;
  CHECK(forms_size(NULL, &shape, &value, &error) == FORMS_INVALID);
  CHECK(strcmp(error.message, "shape.tag is none of the members") == 0);
}

static void union_lists(void) {
  int64_t tags[] = {0, 1, 0}, start[] = {0, 0, 0}, size0[] = {0, 2, 0};
  int64_t size1[] = {0, 2, 0};
  double radii[] = {3.0, 0.0, 1.0}, value = 0.0;
  forms_Disc_or_Outline_list shapes, gradient;
  shapes.tag = places(tags, 3);
  shapes.Disc_radius = vector(radii, 3);
  shapes.Outline_points = vector(depths, 4);
  shapes.Outline_points_start = places(start, 3);
  shapes.Outline_points_size0 = places(size0, 3);
  shapes.Outline_points_size1 = places(size1, 3);
  CHECK(forms_sizes_grad(memory, &shapes, &value, &gradient, &error) == FORMS_OK);
  CHECK(value == 40.0 && gradient.Disc_radius.data[2] == 2.0);
  CHECK(gradient.Outline_points.data[gradient.Outline_points_start.data[1] + 3] == 8.0);
  start[1] = 1;
  CHECK(forms_sizes(NULL, &shapes, &value, &error) == FORMS_INVALID);
  start[1] = INT64_MIN;
  CHECK(forms_sizes(NULL, &shapes, &value, &error) == FORMS_INVALID);
  start[1] = 0;
  size0[1] = INT64_MAX;
  CHECK(forms_sizes(NULL, &shapes, &value, &error) == FORMS_INVALID);
  size0[1] = 2;
  tags[2] = -1;
  CHECK(forms_sizes(NULL, &shapes, &value, &error) == FORMS_INVALID);
  CHECK(strcmp(error.message, "shapes.tag has a tag that is none of the members") == 0);
}

static void ragged(void) {
  int64_t starts[] = {0, 1, 1, 4}, sizes[] = {1, 1, 0, 5, 3, 1};
  forms_list_f64_1_1 xs, gradient;
  forms_list_f64_1_2 blocks, by_blocks;
  double value = 0.0;
  xs.items = vector(depths, 4);
  xs.starts_1 = places(starts, 4);
  CHECK(forms_squares(NULL, &xs, &value, &error) == FORMS_OK && value == 30.0);
  CHECK(forms_squares_grad(memory, &xs, &gradient, &error) == FORMS_OK);
  CHECK(gradient.items.data[3] == 8.0 && gradient.starts_1.data[3] == 4);
  blocks.items = xs.items;
  blocks.starts_1 = xs.starts_1;
  blocks.sizes.data = sizes;
  blocks.sizes.shape[0] = 3;
  blocks.sizes.shape[1] = 2;
  CHECK(forms_blocks_grad(memory, &blocks, &value, &by_blocks, &error) == FORMS_OK);
  CHECK(value == 30.0 && by_blocks.items.data[0] == 2.0);
  sizes[4] = 2;
  CHECK(forms_blocks_grad(memory, &blocks, &value, &by_blocks, &error) == FORMS_INVALID);
  starts[3] = 5;
  CHECK(forms_squares(NULL, &xs, &value, &error) == FORMS_INVALID);
  starts[3] = 4;
  starts[1] = 2;
  CHECK(forms_squares(NULL, &xs, &value, &error) == FORMS_INVALID);
  CHECK(strcmp(error.message, "xs.starts_1 does not ascend") == 0);
  xs.starts_1.shape[0] = 0;
  CHECK(forms_squares(NULL, &xs, &value, &error) == FORMS_INVALID);
}

static void grown(void) {
  const double x[] = {1.0, -2.0, 3.0, -4.0};
  forms_f64_1 found;
  CHECK(forms_positive(memory, x, 4, &found, &error) == FORMS_OK);
  CHECK(found.shape[0] == 2 && found.data[1] == 3.0);
}

int main(void) {
  CHECK(forms_memory_open(FORMS_INTERFACE, NULL, &memory) == FORMS_OK);
  records();
  record_lists();
  unions();
  union_lists();
  ragged();
  grown();
  forms_memory_close(memory);
  return 0;
}
