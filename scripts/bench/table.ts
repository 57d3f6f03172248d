import { keepsBudget, type Budget, type Figure } from "./harness.ts";

/** Figures as a table for a terminal. */
export const tableOf = (figures: ReadonlyArray<Figure>): string => {
  const rows = [
    ["what", "measured", "min … max", "budget", "limit in the same run", "ratio"],
    ...figures.map((figure) => [
      figure.what,
      `${number(figure.value)} ${figure.unit}`,
      figure.spread === undefined ? "" : `${number(figure.spread[0])} … ${number(figure.spread[1])}`,
      describeBudget(figure),
      figure.baseline === undefined ? "" : `${number(figure.baseline.value)} ${figure.baseline.name}`,
      figure.baseline === undefined ? "" : figure.baseline.ratio.toFixed(2),
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
};

const describeBudget = (figure: Figure): string =>
  figure.budget === undefined ? "" : `${bound(figure.budget)} ${keepsBudget(figure) === true ? "kept" : "MISSED"}`;

const bound = (budget: Budget): string =>
  "atLeast" in budget ? `≥ ${number(budget.atLeast)}` : `≤ ${number(budget.atMost)}`;

/** Three figures matter, more would be noise: 40,123 and 3.14 and 0.0271. */
const number = (value: number): string =>
  Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(3)));
