# Cumulative incidence of two competing events by R's survival: survfit of a multi-state coxph.
# Writes competing_data.csv and competing.csv beside this script: Rscript competing.R

library(survival)
set.seed(20)
n <- 80
x <- round(rnorm(n), 2)
z <- rep(c("a", "b"), n / 2)
relapse <- rexp(n, 0.08 * exp(0.7 * x))
death <- rexp(n, 0.05 * exp(-0.4 * x + 0.5 * (z == "b")))
stop <- round(pmin(relapse, death, runif(n, 0, 25)), 4)
stopifnot(anyDuplicated(stop) == 0)
kind <- ifelse(stop == round(relapse, 4), "relapse",
               ifelse(stop == round(death, 4), "death", "censored"))
data <- data.frame(id = 1:n, stop, kind, x, z)
write.csv(data[, -1], "competing_data.csv", row.names = FALSE)

data$kind <- factor(data$kind, c("censored", "relapse", "death"))
fit <- coxph(Surv(stop, kind) ~ x + z, data, id = id)
new <- data.frame(x = c(-1, 0, 1.5), z = c("a", "b", "b"))
found <- summary(survfit(fit, newdata = new), times = c(2, 5, 12))$pstate
table <- data.frame(row = rep(0:2, each = 3), time = rep(c(2, 5, 12), 3),
                    none = c(found[, , 1]), relapse = c(found[, , 2]), death = c(found[, , 3]))
write.csv(table, "competing.csv", row.names = FALSE)
