/* Numbers of scenes with arithmetic, units and variables. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scene/expression.h"

#define PI 3.14159265358979323846

static firn_value variable[] = {
    {.key = "width", .text = "80 cm", .next = &variable[1]},
    {.key = "n", .text = "3", .next = &variable[2]},
    {.key = "half", .text = "$width/2", .next = &variable[3]},
    {.key = "twice", .text = "$twice + $twice"},
};
static const firn_value variables = {.kind = FIRN_MAP, .child = variable, .count = 4};

static bool evaluate(const char *text, const char *unit, double *out, char wrong[FIRN_WRONG_SIZE])
{
    char copy[2000];
    snprintf(copy, sizeof copy, "%s", text);
    firn_context context = {.variables = &variables};
    const firn_value v = {.text = copy, .context = &context};
    return firn_expression_value(&v, unit, out, wrong);
}

static void expressions_have_the_value_of_arithmetic(void **state)
{
    (void)state;
    static const struct {
        const char *text, *unit;
        double value;
    } row[] = {
        {"1 + 2 * 3", "m", 7},
        {"(1 + 2) * 3", "m", 9},
        {"2 ^ 3 ^ 2", "", 512},
        {"-2 ^ 2", "", -4},
        {"8 / 4 / 2", "", 1},
        {"7 - 2 - 1", "", 4},
        {"2e-3*1e3", "", 2},
        {"80 cm", "m", 0.8},
        {"80cm", "m", 0.8},
        {"5 kPa", "Pa", 5e3},
        {"3 ms", "s", 3e-3},
        {"2 g/cm3", "kg/m3", 2e3},
        {"1 l", "", NAN},
        {"1 kJ/(kg K)", "J/(kg K)", 1e3},
        {"20 mm/s", "m/s", 0.02},
        {"1 kg/m3 * 3", "kg/m3", 3},
        {"6 cm/3", "m", 0.02},
        {"10 cm / 2 cm", "m", 5},
        {"2 Pa s", "Pa s", 2},
        {"5000 cP", "Pa s", 5},
        {"10 P", "Pa s", 1},
        {"1000 mPa s", "Pa s", 1},
        {"10 cP", "Pa", NAN},
        {"3 in", "m", 0.0762},
        {"1 inch + 2 inches", "m", 0.0762},
        {"6 ft / 2", "m", 0.9144},
        {"1 lb/in3", "kg/m3", 0.45359237 / (0.0254 * 0.0254 * 0.0254)},
        {"14.5 psi", "Pa", 14.5 * 6894.757293168361},
        {"5 cPs", "Pa s", NAN},
        {"2 Pa * 3 s", "Pa s", 6},
        {"10 Hz", "1/s", 10},
        {"0.5 turns", "degrees", 180},
        {"pi", "degrees", PI},
        {"pi * 1 rad", "degrees", 180},
        {"60 rpm", "degrees/s", 360},
        {"1 turn/s", "rad/s", 2 * PI},
        {"atan2(1, 1)", "degrees", 45},
        {"sin(30 deg)", "", 0.5},
        {"cos(pi)", "", -1},
        {"sqrt(16) + abs(-2)", "", 6},
        {"max(2 cm, 1 mm)", "m", 0.02},
        {"min($width, 1 m) ^ 2", "m2/s", NAN},
        {"$width/2", "m", 0.4},
        {"$half + $n * 1 cm", "m", 0.43},
        {"$n", "m", 3},
        {"floor(7 / 2) + mod(7, 2)", "", 4},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        double out = NAN;
        char wrong[FIRN_WRONG_SIZE];
        const bool fine = evaluate(row[i].text, row[i].unit, &out, wrong);
        if (fine == isnan(row[i].value) ||
            (fine && fabs(out - row[i].value) > 1e-14 * (1 + fabs(row[i].value)))) {
            fail_msg("%s in %s: %.17g, not %.17g (%s)", row[i].text, row[i].unit, out, row[i].value,
                     wrong);
        }
    }
}

/* Doubling often, deep nesting, endless use of oneself: all end at once. */
static void expressions_end(void **state)
{
    (void)state;
    double out;
    char wrong[FIRN_WRONG_SIZE], text[2000];
    assert_false(evaluate("$twice", "", &out, wrong));
    assert_non_null(strstr(wrong, "uses itself"));
    memset(text, '(', 1000);
    text[1000] = 0;
    strcat(text, "1");
    assert_false(evaluate(text, "", &out, wrong));
    memset(text, '-', 1000);
    assert_false(evaluate(text, "", &out, wrong));
    assert_false(evaluate("ball", "", &out, wrong));
    assert_string_equal(wrong, "");

    firn_value chain[18] = {{0}};
    char name[18][8], sum[18][24];
    for (int i = 0; i < 18; i++) {
        snprintf(name[i], sizeof name[i], "v%d", i);
        snprintf(sum[i], sizeof sum[i], i < 17 ? "$v%d + $v%d" : "1", i + 1, i + 1);
        chain[i] =
            (firn_value){.key = name[i], .text = sum[i], .next = i < 17 ? &chain[i + 1] : NULL};
    }
    const firn_value map = {.kind = FIRN_MAP, .child = chain, .count = 18};
    firn_context context = {.variables = &map};
    const firn_value v = {.text = sum[0], .context = &context};
    assert_false(firn_expression_value(&v, "", &out, wrong));
    assert_non_null(strstr(wrong, "it is too long"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_have_the_value_of_arithmetic),
        cmocka_unit_test(expressions_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
