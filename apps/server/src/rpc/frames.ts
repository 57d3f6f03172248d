/**
 * Frames of a live stream for RPC, made from the very bytes that server-sent events are: what both wires say is the same by
 * construction, and pages that many clients share are encoded once. Pure.
 */
import type { RpcFrame } from "@tributary/contracts/rpc";
import { Array as Arr } from "effect";

const decoder = new TextDecoder();

const frameOf = (block: string): RpcFrame => {
  const frame: Record<string, unknown> = {};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(": ");
    const name = line.slice(0, colon);
    const value = line.slice(colon + 2);
    frame[name] = name === "data" ? JSON.parse(value) : value;
  }
  // Written by `frameText`, whose callers are typed.
  return frame as RpcFrame;
};

/** The frames in bytes that hold whole ones, and one at least, as live streams give them. */
export const framesIn = (bytes: Uint8Array): Arr.NonEmptyReadonlyArray<RpcFrame> => {
  const blocks = decoder
    .decode(bytes)
    .split("\n\n")
    .filter((block) => block !== "");
  if (!Arr.isReadonlyArrayNonEmpty(blocks)) throw new Error("Bytes of a live stream without a frame.");
  return Arr.map(blocks, frameOf);
};
