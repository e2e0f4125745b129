# Gamma regression by R: writes gamma.csv beside this script, from survey_data.csv.
# Rscript gamma.R
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
d <- read.csv(file.path(here, "survey_data.csv"), stringsAsFactors = TRUE)
own <- function(left, family, name) {
fit <- function(right) glm(reformulate(right, left), family, d, control = list(epsilon = 1e-14, maxit = 100))
f <- fit("x + g")
s <- summary(f)
a <- anova(fit("x"), f, test = "F")
rows <- data.frame(what = rownames(coef(s)), value = coef(s)[, 1], std_error = coef(s)[, 2],
                   p_value = coef(s)[, 4])
rows <- rbind(rows, data.frame(what = c("F", "cook", "standardised"),
  value = c(a$F[2], cooks.distance(f)[1], rstandard(f)[1]), std_error = NA, p_value = c(a$`Pr(>F)`[2], NA, NA)))
write.csv(rows, file.path(here, name), row.names = FALSE, quote = FALSE, na = "")
}
own("time", Gamma("log"), "gamma.csv")
