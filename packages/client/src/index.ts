/** What clients of every kind read from the wire. The typed client and the reducer that apps share come here. */
export type { LiveText, PublicEvent } from "@tributary/contracts/api";
