/** Stands for a secret value in events (I16). */
export const mask = "•••";
