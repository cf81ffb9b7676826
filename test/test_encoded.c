/* Trees of scenes that another parser has read: hand-written ones, and, named as arguments, pairs of a YAML
 * file and what the page's parser made of it (apps/studio/test/wasm/encode.test.mjs gives them), which must
 * be the tree that libyaml makes, places included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/io.h"
#include "scene/yaml.h"

static firn_status decode(const char *text, firn_value **out, firn_error *error)
{
    int values = 0;
    return firn_yaml_decode("page", false, text, strlen(text), &values, out, error);
}

static firn_status parse(const char *text, firn_value **out, firn_error *error)
{
    int values = 0;
    return firn_yaml_parse("page", false, text, strlen(text), &values, out, error);
}

/* Where two trees differ, as text; false: nowhere. */
static bool differ(const firn_value *a, const firn_value *b, char text[400])
{
    if (!a != !b) {
        snprintf(text, 400, "one has more values, behind %s",
                 a ? (a->key ? a->key : "an entry") : "those");
        return true;
    }
    if (!a) return false;
    if (a->kind != b->kind || a->quoted != b->quoted || a->line != b->line ||
        a->column != b->column || strcmp(a->key ? a->key : "", b->key ? b->key : "") != 0 ||
        strcmp(a->text ? a->text : "", b->text ? b->text : "") != 0) {
        snprintf(text, 400,
                 "%d:%d %s \"%.100s\" (kind %d, %s) or %d:%d %s \"%.100s\" (kind %d, %s)", a->line,
                 a->column, a->key ? a->key : "-", a->text ? a->text : "", a->kind,
                 a->quoted ? "quoted" : "plain", b->line, b->column, b->key ? b->key : "-",
                 b->text ? b->text : "", b->kind, b->quoted ? "quoted" : "plain");
        return true;
    }
    return differ(a->child, b->child, text) || differ(a->next, b->next, text);
}

static void an_encoding_gives_the_tree_of_its_yaml(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"a: 1\nb: {c: [1, \"2\"]}\n",
         "{ 1 1 0:\nk 1 1 1:a\ns 1 4 1:1\nk 2 1 1:b\n{ 2 4 0:\nk 2 5 1:c\n[ 2 8 0:\ns 2 9 1:1\n"
         "q 2 12 1:2\n] 2 8 0:\n} 2 4 0:\n} 1 1 0:\n"},
        {"- \"\\u00e9\\n:\"\n-\n- ~\n",
         "[ 1 1 0:\nq 1 3 4:\u00e9\n:\ns 2 2 0:\ns 3 3 1:~\n] 1 1 0:\n"},
        {"word", "s 1 1 4:word\n"},
        {"{}", "{ 1 1 0:\n} 1 1 0:\n"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        firn_value *a = NULL, *b = NULL;
        firn_error error = {0};
        char text[400] = "";
        assert_int_equal(parse(pairs[i][0], &a, &error), FIRN_OK);
        assert_int_equal(decode(pairs[i][1], &b, &error), FIRN_OK);
        if (differ(a, b, text)) fail_msg("%s: %s", pairs[i][0], text);
        firn_value_free(a);
        firn_value_free(b);
    }
}

static void what_scenes_must_not_have_is_refused_in_the_same_words(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"a: 1\na: 2\n", "{ 1 1 0:\nk 1 1 1:a\ns 1 4 1:1\nk 2 1 1:a\ns 2 4 1:2\n} 1 1 0:\n"},
        {"a: *x\n", "{ 1 1 0:\nk 1 1 1:a\n* 1 4 1:x\n} 1 1 0:\n"},
        {"a: &x {b: &x 1}\n", "{ 1 1 0:\nk 1 1 1:a\n& 1 4 1:x\n{ 1 7 0:\nk 1 8 1:b\n& 1 11 1:x\n"
                              "s 1 14 1:1\n} 1 15 0:\n} 1 1 0:\n"},
        {"a: &x {b: *x}\n", "{ 1 1 0:\nk 1 1 1:a\n& 1 4 1:x\n{ 1 7 0:\nk 1 8 1:b\n* 1 11 1:x\n"},
        {"<<: 1\n", "{ 1 1 0:\nk 1 1 2:<<\ns 1 5 1:1\n} 2 1 0:\n"},
        {"[b]: 1\n", "{ 1 1 0:\n? 1 1 0:\n} 1 1 0:\n"},
        {"a: \"\\0\"\n", "{ 1 1 0:\nk 1 1 1:a\nq 1 4 1:"}, /* and a zero, below */
        {"", ""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        firn_value *a = NULL, *b = NULL;
        firn_error one = {0}, other = {0};
        char text[200];
        size_t size = strlen(pairs[i][1]);
        memcpy(text, pairs[i][1], size);
        if (size && text[size - 1] == ':') {
            memcpy(text + size, "\0\n} 1 1 0:\n", 11);
            size += 11;
        }
        int values = 0;
        assert_int_equal(parse(pairs[i][0], &a, &one), FIRN_INVALID);
        assert_int_equal(firn_yaml_decode("page", false, text, size, &values, &b, &other),
                         FIRN_INVALID);
        assert_null(b);
        assert_string_equal(one.message, other.message);
    }
}

/* Whether two trees say the same, wherever. */
static bool same_words(const firn_value *a, const firn_value *b)
{
    for (; a && b; a = a->next, b = b->next) {
        if (a->kind != b->kind || a->quoted != b->quoted ||
            strcmp(a->key ? a->key : "", b->key ? b->key : "") != 0 ||
            strcmp(a->text ? a->text : "", b->text ? b->text : "") != 0 ||
            !same_words(a->child, b->child)) {
            return false;
        }
    }
    return a == b;
}

static void aliases_are_copies_and_merged_maps_give_what_is_missing(void **state)
{
    (void)state;
    static const char yaml[] = "a: &x {b: 1, c: [2, \"3\"]}\nd: {<<: *x, b: 4}\ne: *x\n",
                      plain[] = "a: {b: 1, c: [2, \"3\"]}\nd: {b: 4, c: [2, \"3\"]}\n"
                                "e: {b: 1, c: [2, \"3\"]}\n",
                      records[] =
                          "{ 1 1 0:\nk 1 1 1:a\n& 1 4 1:x\n{ 1 7 0:\nk 1 8 1:b\ns 1 11 1:1\n"
                          "k 1 14 1:c\n[ 1 17 0:\ns 1 18 1:2\nq 1 21 1:3\n] 1 24 0:\n} 1 25 0:\n"
                          "k 2 1 1:d\n{ 2 4 0:\nk 2 5 2:<<\n* 2 9 1:x\nk 2 13 1:b\ns 2 16 1:4\n"
                          "} 2 17 0:\nk 3 1 1:e\n* 3 4 1:x\n} 4 1 0:\n";
    firn_value *a = NULL, *b = NULL, *c = NULL;
    firn_error error = {0};
    char text[400];
    assert_int_equal(parse(yaml, &a, &error), FIRN_OK);
    assert_int_equal(decode(records, &b, &error), FIRN_OK);
    assert_int_equal(parse(plain, &c, &error), FIRN_OK);
    if (differ(a, b, text)) fail_msg("%s", text);
    assert_true(same_words(a, c));
    firn_value_free(a);
    firn_value_free(b);
    firn_value_free(c);
}

static void a_second_document_and_what_a_parser_says_are_refused(void **state)
{
    (void)state;
    firn_value *v = NULL;
    firn_error error = {0};
    assert_int_equal(decode("s 1 1 1:a\n- 3 1 0:\n", &v, &error), FIRN_INVALID);
    assert_string_equal(error.message, "page:3:1: a second document (---) in one file");
    assert_int_equal(decode("! 7 2 5:wrong\n", &v, &error), FIRN_INVALID);
    assert_string_equal(error.message, "page:7:2: wrong");
}

static void depth_and_number_have_limits(void **state)
{
    (void)state;
    firn_error error = {0};
    firn_value *v = NULL;
    char *text = malloc(10 * 100 + 1);
    assert_non_null(text);
    for (int i = 0; i < 100; i++) memcpy(text + 9 * i, "[ 1 1 0:\n", 9);
    text[900] = 0;
    assert_int_equal(decode(text, &v, &error), FIRN_INVALID);
    assert_string_equal(error.message, "page:1:1: more than 64 levels; write it flatter");
    free(text);

    int values = FIRN_MOST_VALUES;
    assert_int_equal(firn_yaml_decode("page", false, "s 1 1 1:a\n", 10, &values, &v, &error),
                     FIRN_INVALID);
    assert_non_null(strstr(error.message, "more than 1000000 values"));
}

/* Every beginning of a good encoding, and every letter changed. */
static void broken_encodings_are_refused_or_read(void **state)
{
    (void)state;
    static const char good[] = "{ 1 1 0:\nk 1 1 1:a\n[ 1 4 0:\ns 1 5 2:xy\n] 1 4 0:\n} 1 1 0:\n";
    const size_t size = sizeof good - 1;
    char text[sizeof good];
    for (size_t n = 0; n < size; n++) {
        firn_value *v = NULL;
        int values = 0;
        assert_int_not_equal(firn_yaml_decode("page", false, good, n, &values, &v, NULL), FIRN_OK);
        assert_null(v);
    }
    for (size_t i = 0; i < size; i++) {
        for (int c = 0; c < 256; c++) {
            firn_value *v = NULL;
            int values = 0;
            memcpy(text, good, size);
            text[i] = (char)c;
            if (firn_yaml_decode("page", false, text, size, &values, &v, NULL) == FIRN_OK) {
                assert_non_null(v);
            }
            firn_value_free(v);
        }
    }
}

/* 0: alike. Where both refuse the file, their words may differ, but not their line. */
static int compare(const char *yaml, const char *encoded)
{
    firn_bytes text = {0}, code = {0};
    firn_error error = {0}, one = {0}, other = {0};
    if (firn_bytes_read(yaml, &text, &error) != FIRN_OK ||
        firn_bytes_read(encoded, &code, &error) != FIRN_OK) {
        printf("%s\n", error.message);
        return 1;
    }
    const firn_bytes plain = firn_bytes_text(&text);
    firn_value *a = NULL, *b = NULL;
    int values[2] = {0};
    const firn_status st[2] = {
        firn_yaml_parse("file", false, plain.data, plain.size, &values[0], &a, &one),
        firn_yaml_decode("file", false, code.data, code.size, &values[1], &b, &other)};
    int wrong = 0;
    char where[400] = "";
    if (st[0] != st[1]) {
        wrong = 1;
        printf("%s: %s or %s\n", yaml, st[0] == FIRN_OK ? "read" : one.message,
               st[1] == FIRN_OK ? "read" : other.message);
    } else if (st[0] == FIRN_OK && differ(a, b, where)) {
        wrong = 1;
        printf("%s: %s\n", yaml, where);
    } else if (st[0] != FIRN_OK && strcmp(one.message, other.message) != 0) {
        printf("%s: (words) %s | %s\n", yaml, one.message, other.message);
    }
    firn_value_free(a);
    firn_value_free(b);
    firn_bytes_free(&text);
    firn_bytes_free(&code);
    return wrong;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        int wrong = 0;
        for (int i = 1; i + 1 < argc; i += 2) wrong += compare(argv[i], argv[i + 1]);
        return wrong > 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_encoding_gives_the_tree_of_its_yaml),
        cmocka_unit_test(what_scenes_must_not_have_is_refused_in_the_same_words),
        cmocka_unit_test(aliases_are_copies_and_merged_maps_give_what_is_missing),
        cmocka_unit_test(a_second_document_and_what_a_parser_says_are_refused),
        cmocka_unit_test(depth_and_number_have_limits),
        cmocka_unit_test(broken_encodings_are_refused_or_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
