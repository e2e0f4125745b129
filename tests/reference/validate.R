# Models that `treeselect validate` compares with: writes treeselect/data/reference_r.csv.
#   python -c "import treeselect; [treeselect.datasets.load(n).to_csv(f'{n}.csv', index=False)
#              for n in ('titanic', 'bodyfat', 'gbsg2')]"
#   Rscript validate.R FOLDER_OF_THESE    (needs the package survival)

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
folder <- commandArgs(trailingOnly = TRUE)[1]
data <- function(name) read.csv(file.path(folder, paste0(name, ".csv")), na.strings = "")
library(survival)
still <- list(epsilon = 1e-14, maxit = 100)
women <- data("gbsg2")
women$tgrade <- factor(women$tgrade, levels = c("I", "II", "III"))
exact <- coxph.control(eps = 1e-14, toler.chol = 1e-15, iter.max = 100)
fits <- list(
  lm = lm(siri ~ abdomen + weight_kg + wrist + age, data("bodyfat")),
  glm = glm(survived ~ sex + age + pclass, binomial, data("titanic"), control = still),
  coxph = coxph(Surv(time, cens) ~ horTh + tgrade + tsize + pnodes, women, control = exact)
)
rows <- lapply(names(fits), function(name) {
  found <- coef(summary(fits[[name]]))
  data.frame(model = name, column = rownames(found), estimate = found[, 1],
             std_error = found[, if (name == "coxph") "se(coef)" else 2])
})
fat <- data("bodyfat")
best <- step(lm(siri ~ 1, fat), formula(lm(siri ~ ., fat)), direction = "both", trace = 0)
kept <- attr(terms(best), "term.labels")
rows[[length(rows) + 1]] <- data.frame(model = "step", column = kept, estimate = NA, std_error = NA)
all <- do.call(rbind, rows)
numbers <- c("estimate", "std_error")
all[numbers] <- lapply(all[numbers], function(x) ifelse(is.na(x), "", sprintf("%.12g", x)))
write.csv(all, file.path(here, "../../treeselect/data/reference_r.csv"), row.names = FALSE, quote = FALSE)
