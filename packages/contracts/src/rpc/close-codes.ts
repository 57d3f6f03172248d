/** Why the server closes a WebSocket of `/rpc`. */
export const closeCodes = {
  /** The server stops: connect again, with a new ticket, and go on from your cursors. */
  goingAway: 1001,
  /** A binary frame: messages are text. */
  binary: 1003,
  /** Not JSON, or none of the protocol's messages. */
  malformed: 1007,
  /** A request with the id of one that is not over yet. */
  duplicateId: 1008,
  /** A message of more than `maxMessageBytes` (GET /limits). */
  tooLarge: 1009,
  /** The token that the ticket stood for was revoked or ran out. */
  revoked: 4401,
} as const;
