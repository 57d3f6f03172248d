import type { ItemType } from "@tributary/contracts";

/** Items that are text and nothing else; they are never activities. */
export const isTextType = (type: ItemType): boolean =>
  type === "assistant_message" || type === "reasoning" || type === "user_message";
