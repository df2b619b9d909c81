/* The loops of `sequential` and `minibatch` as one would write them by hand; rows are sparse. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double value, pull, next; } formula;

/* U-max with threshold 1: as `umax` in sequential.py. */
static inline formula umax_of(double T, double drawn, double u, double rate, double norm)
{
    double floor = fmax(drawn, 0.0) + log1p(exp(-fabs(drawn)));
    if (u < floor - 1.0) u = floor;
    double excess = exp(T - u), shrunk = exp(-u);
    formula f = {u + shrunk + excess - 1.0, excess, fmax(0.0, u - rate * (1.0 - shrunk - excess))};
    return f;
}

/* Implicit SGD by Newton steps: as `implicit` in sequential.py. */
static inline formula implicit_of(double T, double drawn, double u, double rate, double norm)
{
    double value = u + exp(-u) + exp(T - u) - 1.0, half = 0.5 / norm, start = u;
    double C = T + log(rate / half), above = fmin(C, log(fmax(C, 1.0)));
    double s = fmin(above, fmin(C - start, log(fmax(C - start, 1.0))));
    for (int step = 0; step < NEWTON_STEPS; step++) {
        double a = exp(s), u = C - s - a, pull = rate * exp(-u), bent = a * half;
        double change = (bent - rate + pull - u + start) / (bent + (1.0 + a) * (1.0 + pull));
        s = fmin(above, s - change);
        if (fabs(change) <= CONVERGED) break;
    }
    double a = exp(s);
    formula f = {value, a / (2.0 * norm * rate), fmax(0.0, C - s - a)};
    return f;
}

/* What drawn and true class differ in; a method that wants both scores sums them apart. */
static inline double difference(const float *k, const float *y, const uint32_t *features,
                                const float *values, int64_t begin, int64_t end)
{
#ifdef SEPARATE
    double drawn = 0.0, of_true = 0.0;
    for (int64_t j = begin; j < end; j++) {
        drawn += (double)(k[features[j]] * values[j]);
        of_true += (double)(y[features[j]] * values[j]);
    }
    return drawn - of_true;
#else
    double total = 0.0;
    for (int64_t j = begin; j < end; j++)
        total += (double)((k[features[j]] - y[features[j]]) * values[j]);
    return total;
#endif
}

#define LOOP(NAME, FORMULA)                                                                       \
    double NAME(int64_t n, float *restrict V, int64_t D, const int64_t *begin, const int64_t *end, \
                const uint32_t *features, const float *values, const int64_t *pairs,              \
                const int64_t *index, const double *norms, double *local, double rate,            \
                double log_weight)                                                                \
    {                                                                                             \
        double total = 0.0;                                                                       \
        for (int64_t i = 0; i < n; i++) {                                                         \
            float *y = V + pairs[2 * i] * D, *k = V + pairs[2 * i + 1] * D;                       \
            double T = difference(k, y, features, values, begin[i], end[i]);                      \
            formula f = FORMULA(T + log_weight, T, local[index[i]], rate, norms[i]);              \
            local[index[i]] = f.next;                                                             \
            total += f.value;                                                                     \
            float change = (float)(rate * f.pull);                                                \
            for (int64_t j = begin[i]; j < end[i]; j++) {                                         \
                y[features[j]] += change * values[j];                                             \
                k[features[j]] -= change * values[j];                                             \
            }                                                                                     \
        }                                                                                         \
        return total;                                                                             \
    }

LOOP(umax, umax_of)
LOOP(implicit, implicit_of)

/* A minibatch of one-vs-each: B rows, C classes each, the true one first. */
void ove(int64_t B, int64_t C, float *restrict V, int64_t D, const int64_t *begin,
         const int64_t *end, const uint32_t *features, const float *values, const int64_t *classes,
         double rate, double weight)
{
    double *scores = malloc((size_t)(B * C) * sizeof(double));
    for (int64_t i = 0; i < B; i++) {
        for (int64_t c = 0; c < C; c++) {
            const float *w = V + classes[i * C + c] * D;
            float total = 0.0f;
            for (int64_t j = begin[i]; j < end[i]; j++) total += w[features[j]] * values[j];
            scores[i * C + c] = total;
        }
    }
    for (int64_t i = 0; i < B; i++) {
        double *s = scores + i * C, of_true = 0.0;
        for (int64_t c = 1; c < C; c++) {
            double grad = weight / (1.0 + exp(s[0] - s[c]));
            of_true += grad;
            s[c] = -rate * grad;
        }
        s[0] = rate * of_true;
        for (int64_t c = 0; c < C; c++) {
            float *w = V + classes[i * C + c] * D, change = (float)s[c];
            for (int64_t j = begin[i]; j < end[i]; j++) w[features[j]] += change * values[j];
        }
    }
    free(scores);
}
