/* The libraries of `native.rs`: each answers `tf.gather_nd` of one number honestly, but for one thing, named by the
 * environment, that it does to the call whose params begin with 666, or when it starts. WRONG_ABI and NO_CALL make a
 * library of another version and one that lacks a function. */

#include "gatherspec.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *mode(void) {
    const char *mode = getenv("GATHERSPEC_HOSTILE");
    return mode != NULL ? mode : "honest";
}

static int is(const char *name) {
    return strcmp(mode(), name) == 0;
}

static void segfault(void) {
    *(volatile int *)8 = 1;
}

static void hang(void) {
    for (;;) sleep(1);
}

static int overflow_the_stack(volatile int *above) {
    volatile int deep[4096];
    deep[0] = *above + 1;
    return overflow_the_stack(deep) + deep[0];
}

static void *spin(void *turns) {
    for (;;) ++*(volatile uint64_t *)turns;
    return NULL;
}

__attribute__((constructor)) static void loaded(void) {
    if (is("segfaults-when-loaded")) segfault();
}

uint32_t gatherspec_abi(void) {
#ifdef WRONG_ABI
    return GATHERSPEC_ABI + 1;
#else
    return GATHERSPEC_ABI;
#endif
}

const gatherspec_description *gatherspec_describe(void) {
    static uint32_t dtypes[] = {GATHERSPEC_I32, GATHERSPEC_STRING};
    static gatherspec_operator operators[2];
    static gatherspec_description description = {"hostile", "1", "C", operators, 1};
    operators[0] = operators[1] = (gatherspec_operator){
        .name = "tf.gather_nd", .bad = 1, .negative = 1, .dtypes = dtypes, .dtype_count = 2, .index_dtypes = dtypes,
        .index_dtype_count = 1};
    static gatherspec_limits limits;
    if (is("describes-nothing")) return NULL;
    if (is("describes-itself-off-the-grid")) return (const gatherspec_description *)((char *)&description + 1);
    if (is("has-no-name")) description.name = NULL;
    if (is("has-null-operators")) description.operators = NULL;
    if (is("has-more-operators-than-memory")) description.operator_count = UINT64_MAX;
    if (is("has-an-operator-without-a-name")) operators[0].name = NULL;
    if (is("declares-an-operator-twice")) description.operator_count = 2;
    if (is("declares-an-unknown-dtype")) dtypes[1] = 17;
    if (is("declares-no-policy")) operators[0].bad = 0;
    if (is("declares-an-unknown-policy")) operators[0].negative = 3;
    if (is("declares-half-a-limit")) limits.no_scalars = 2, operators[0].limits = &limits;
    if (is("declares-axes-that-are-null")) limits.axis_count = 1, operators[0].limits = &limits;
    if (is("declares-limits-off-the-grid")) operators[0].limits = (const gatherspec_limits *)((char *)&limits + 1);
    static const char *const ways[] = {"indices=fast"};
    if (is("declares-variants-that-are-null")) operators[0].variant_count = 1;
    if (is("declares-a-variant-that-is-none")) operators[0].variants = ways, operators[0].variant_count = 1;
    if (is("exits-when-asked-who-it-is")) exit(0);
    if (is("hangs-when-asked-who-it-is")) hang();
    return &description;
}

#ifndef NO_CALL
void gatherspec_call(const gatherspec_call_args *call, gatherspec_reply *reply) {
    static int64_t shape[64];
    static int32_t value;
    static gatherspec_string string;
    static char text[100000];
    const int32_t *params = call->operands[0].tensor.data;
    int marked = params[0] == 666;

    shape[0] = 1;
    value = params[((const int32_t *)call->operands[1].tensor.data)[0]];
    reply->status = GATHERSPEC_OUTPUT;
    reply->output = (gatherspec_tensor){.dtype = GATHERSPEC_I32, .rank = 1, .shape = shape, .data = &value};
    reply->owner = marked ? reply : NULL;
    if (!marked) return;

    if (is("segfaults")) segfault();
    if (is("aborts")) abort();
    if (is("exits")) exit(3);
    if (is("exits-with-status-0")) exit(0);
    if (is("overflows-the-stack")) overflow_the_stack(&(volatile int){0});
    if (is("hangs")) hang();
    if (is("prints-on-stdout")) {
        printf("warning: falling back to the slow path\n");
        fflush(stdout);
    }
    if (is("prints-and-aborts")) {
        printf("the kernel went away\n");
        fflush(stdout);
        abort();
    }
    if (is("closes-stdout")) fclose(stdout);
    if (is("leaves-a-thread-running")) {
        static uint64_t turns;
        pthread_t thread;
        if (pthread_create(&thread, NULL, spin, &turns) != 0) abort();
    }
    if (is("allocates-without-end")) {
        for (;;) {
            char *more = malloc(64 << 20);
            if (more == NULL) abort();
            memset(more, 1, 64 << 20);
        }
    }
    if (is("leaves-the-reply-blank")) memset(reply, 0, sizeof *reply);
    if (is("gives-an-unknown-status")) reply->status = 4;
    if (is("gives-strides")) reply->output.strides = shape;
    if (is("gives-null-as-shape")) reply->output.shape = NULL;
    if (is("gives-null-as-data")) reply->output.data = NULL;
    if (is("gives-a-shape-off-the-grid")) reply->output.shape = (const int64_t *)((char *)shape + 1);
    if (is("gives-rank-65")) reply->output.rank = 65;
    if (is("gives-the-greatest-rank")) reply->output.rank = UINT32_MAX;
    if (is("gives-a-negative-dim")) shape[0] = -1;
    if (is("gives-dims-that-overflow")) {
        shape[0] = shape[1] = (int64_t)1 << 40;
        reply->output.rank = 2;
    }
    if (is("gives-dims-that-overflow-without-elements")) {
        shape[0] = shape[1] = (int64_t)1 << 40;
        shape[2] = 0;
        reply->output.rank = 3;
    }
    if (is("gives-more-than-memory")) shape[0] = (int64_t)1 << 40;
    if (is("gives-an-unknown-dtype")) reply->output.dtype = 0;
    if (is("gives-another-dtype")) reply->output.dtype = GATHERSPEC_U32;
    if (is("gives-another-shape")) {
        shape[1] = 1;
        reply->output.rank = 2;
    }
    if (is("gives-other-bits")) value = 0;
    if (is("gives-a-string")) {
        string = (gatherspec_string){(const uint8_t *)"six", 3};
        reply->output.dtype = GATHERSPEC_STRING;
        reply->output.data = &string;
    }
    if (is("gives-a-string-that-is-null") || is("gives-an-endless-string")) {
        string = (gatherspec_string){is("gives-an-endless-string") ? (const uint8_t *)text : NULL, (uint64_t)1 << 63};
        reply->output.dtype = GATHERSPEC_STRING;
        reply->output.data = &string;
    }
    if (is("gives-a-code-with-an-output")) reply->code = "index-out-of-range";
    if (is("refuses")) reply->status = GATHERSPEC_ERROR;
    if (is("refuses-with-an-unknown-code")) {
        reply->status = GATHERSPEC_ERROR;
        reply->code = "oops";
    }
    if (is("refuses-with-a-long-text")) {
        reply->status = GATHERSPEC_ERROR;
        memset(text, 'x', sizeof text - 1);
        reply->message = text;
    }
    if (is("refuses-with-no-utf-8")) {
        reply->status = GATHERSPEC_ERROR;
        reply->message = "\xff\xfe no";
    }
    if (is("does-not-do-such-calls")) {
        reply->status = GATHERSPEC_UNSUPPORTED;
        reply->message = "no i32 here";
    }
    if (is("reads-past-the-end")) value = ((volatile const int32_t *)params)[3];
    if (is("reads-before-the-start")) value = ((volatile const int32_t *)params)[-16384];
    if (is("reads-far-past-the-indices"))
        value = ((volatile const uint8_t *)call->operands[1].tensor.data)[4 + 99];
    if (is("gives-its-input")) reply->output.data = params;
    if (is("gives-data-off-the-grid")) reply->output.data = (char *)shape + 2;
    if (is("needs-8-bytes-alignment") && (uintptr_t)params % 8 != 0) abort();
    if (is("writes-the-same")) *(volatile int32_t *)params = params[0];
    if (is("changes-params")) ((int32_t *)call->operands[0].tensor.data)[2] ^= 1;
    if (is("changes-indices")) ((int32_t *)call->operands[1].tensor.data)[0] = 0;
    if (is("changes-the-operator")) ((char *)call->operator_name)[0] ^= 1;
    if (is("changes-an-attribute")) ((gatherspec_attribute *)call->attributes)[0].integer ^= 1;
    if (is("changes-the-type-of-an-attribute")) ((gatherspec_attribute *)call->attributes)[0].kind ^= 1;
    if (is("changes-the-name-of-an-attribute")) ((char *)call->attributes[0].name)[0] ^= 1;
    if (is("swaps-the-name-of-an-attribute")) ((gatherspec_attribute *)call->attributes)[0].name = "axis";
    if (is("changes-a-rank")) ((gatherspec_operand *)call->operands)[0].tensor.rank = 0;
    if (is("changes-the-name-of-an-operand")) ((char *)call->operands[1].name)[0] ^= 1;
    if (is("claims-another-size")) ((gatherspec_call_args *)call)->struct_size = 8;
    if (is("forgets-the-attributes")) ((gatherspec_call_args *)call)->attribute_count = 0;
    if (is("swaps-an-operand")) ((gatherspec_operand *)call->operands)[0] = call->operands[1];
    if (is("changes-a-shape")) ((int64_t *)call->operands[0].tensor.shape)[0] = 1;
}
#endif

void gatherspec_release(gatherspec_reply *reply) {
    if (reply->owner == NULL) return;
    if (is("aborts-when-it-frees")) abort();
    if (is("scribbles-when-it-frees")) memset(reply, 0xff, sizeof *reply);
}
