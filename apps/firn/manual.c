/* The manual page, from the tables of commands, topics and exit codes, in the man macros. */
#include <stdio.h>
#include <string.h>

#include "app.h"

/* Of the version; the page must not depend on when it is made. */
static const char date[] = "2026-11-16";

/* Text that roff takes as it is. */
static void print_text(const char *text)
{
    if (*text == '.' || *text == '\'') printf("\\&");
    for (; *text; text++) {
        if (*text == '-' || *text == '\\') printf("\\");
        putchar(*text == '\\' ? 'e' : *text);
    }
}

/* In lines of moderate length, which roff joins. */
static void print_paragraph(const char *text)
{
    enum { MOST = 76 };
    while (*text) {
        size_t length = strlen(text);
        if (length > MOST) {
            length = MOST;
            while (length > 0 && text[length] != ' ') length--;
            if (length == 0) length = strcspn(text, " ");
        }
        char line[256];
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        print_text(line);
        printf("\n");
        text += length;
        text += strspn(text, " ");
    }
}

static void print_entry(const char *name, const char *value, const char *help)
{
    printf(".TP\n\\fB");
    print_text(name);
    printf("\\fR");
    if (value) {
        printf(" \\fI");
        print_text(value);
        printf("\\fR");
    }
    printf("\n");
    print_paragraph(help);
}

static void print_option(const firn_option *o)
{
    char text[2048];
    /* What this machine runs is not the page's business. */
    firn_option_text(o, o->word != firn_isa_name, text, sizeof text);
    print_entry(o->name, o->placeholder, text);
}

static void print_command(const firn_command *command)
{
    char usage[128];
    firn_command_usage(command, usage, sizeof usage);
    printf(".SS \"");
    print_text(usage);
    printf("\"\n");
    print_paragraph(command->summary);
    for (int i = 0; i < command->option_count; i++) print_option(&command->options[i]);
    for (int i = 0; command->parts && command->parts[i]; i++) print_command(command->parts[i]);
}

void firn_manual_print(void)
{
    printf(".\\\" Made by `firn help \\-\\-man`: do not edit.\n"
           ".TH FIRN 1 %s \"firn %s\" \"User Commands\"\n"
           ".SH NAME\nfirn \\- material point method simulation for computer graphics\n"
           ".SH SYNOPSIS\n.B firn\n.I COMMAND\n[options]\n.br\n.B firn help\n[\\fITOPIC\\fR]\n"
           ".SH DESCRIPTION\n",
           date, firn_version());
    print_paragraph(firn_program.summary);
    printf("Options may stand anywhere after the command, as \\fB\\-\\-name\\fR \\fIvalue\\fR or\n"
           "\\fB\\-\\-name=\\fR\\fIvalue\\fR; every command has \\fB\\-\\-help\\fR.\n"
           ".SH COMMANDS\n");
    for (int i = 0; firn_program.parts[i]; i++) print_command(firn_program.parts[i]);
    printf(".SH TOPICS\n.B firn help\n.I TOPIC\nprints a screen on each of these.\n");
    for (int32_t i = 0; firn_topic_name(i); i++) {
        print_entry(firn_topic_name(i), NULL, firn_topic_line(i));
    }
    printf(".SH EXIT STATUS\n");
    for (const firn_exit *e = firn_exits; e->meaning; e++) {
        char code[16];
        snprintf(code, sizeof code, "%d", e->code);
        print_entry(code, NULL, e->meaning);
    }
    printf(".SH EXAMPLES\n.nf\n"
           "firn run drop.yaml \\-\\-plan\n"
           "firn run drop.yaml \\-\\-set resolution=0.01\n"
           "firn run drop.yaml \\-\\-resume\n"
           "firn sweep drop.yaml \\-\\-vary materials.jelly.young=1e4,1e5\n"
           "firn convert drop.0024.bgeo.sc drop.csv\n"
           ".fi\n");
}
