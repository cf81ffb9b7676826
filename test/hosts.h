/* Hosts that run the engine's loops themselves: in turn, backwards, on threads. Each counts the loops
 * in the int that its user_data points to. */
#ifndef FIRN_TEST_HOSTS_H
#define FIRN_TEST_HOSTS_H

#include <pthread.h>
#include <stdlib.h>

#include <firn/base.h>

enum { HOST_WORKERS = 8 }; /* at most */

static inline void run_in_turn(void *user_data, firn_task_function *task, void *task_data,
                               int32_t count)
{
    ++*(int *)user_data;
    for (int32_t i = 0; i < count; i++) task(task_data, i);
}

static inline void run_backwards(void *user_data, firn_task_function *task, void *task_data,
                                 int32_t count)
{
    ++*(int *)user_data;
    for (int32_t i = count - 1; i >= 0; i--) task(task_data, i);
}

typedef struct host_thread {
    pthread_t thread;
    firn_task_function *task;
    void *task_data;
    int32_t worker;
} host_thread;

static inline void *enter_task(void *argument)
{
    host_thread *t = argument;
    t->task(t->task_data, t->worker);
    return NULL;
}

static inline void run_on_threads(void *user_data, firn_task_function *task, void *task_data,
                                  int32_t count)
{
    ++*(int *)user_data;
    host_thread t[HOST_WORKERS];
    if (count > HOST_WORKERS) abort();
    for (int32_t i = 0; i < count; i++) {
        t[i] = (host_thread){.task = task, .task_data = task_data, .worker = i};
        if (pthread_create(&t[i].thread, NULL, enter_task, &t[i]) != 0) abort();
    }
    for (int32_t i = 0; i < count; i++) pthread_join(t[i].thread, NULL);
}

static void (*const host_runs[])(void *, firn_task_function *, void *,
                                 int32_t) = {run_in_turn, run_backwards, run_on_threads};
enum { HOSTS = sizeof host_runs / sizeof *host_runs };

#endif
