/**
 * Room for records that wait, in bytes: so much of one thread, so much of all (4.12). Who finds none suspends, and with it
 * the adapter's reader, the pipe and the agent; room goes to those who wait longest, but never past a full thread to hold
 * up another (I15).
 */
import { threadBytes, totalBytes } from "../limits.ts";

export interface Limits {
  readonly threadBytes: number;
  readonly totalBytes: number;
}

interface Waiting {
  readonly threadId: string;
  readonly bytes: number;
  readonly admit: () => void;
}

export class Budget {
  private readonly limits: Limits;
  private used = 0;
  private readonly ofThread = new Map<string, number>();
  private readonly waiting = new Set<Waiting>();

  constructor(limits: Limits = { threadBytes, totalBytes }) {
    this.limits = limits;
  }

  get bytes(): number {
    return this.used;
  }

  private fits(threadId: string, bytes: number): boolean {
    const held = this.ofThread.get(threadId) ?? 0;
    // A record larger than the limit goes alone: it must go at some time.
    if (held > 0 && held + bytes > this.limits.threadBytes) return false;
    return this.used === 0 || this.used + bytes <= this.limits.totalBytes;
  }

  private take(threadId: string, bytes: number): void {
    this.used += bytes;
    this.ofThread.set(threadId, (this.ofThread.get(threadId) ?? 0) + bytes);
  }

  private isWaiting(threadId: string): boolean {
    for (const waiting of this.waiting) if (waiting.threadId === threadId) return true;
    return false;
  }

  /** Takes room at once; false where there is none, or others of this thread wait before. */
  tryTake(threadId: string, bytes: number): boolean {
    if ((this.waiting.size > 0 && this.isWaiting(threadId)) || !this.fits(threadId, bytes)) return false;
    this.take(threadId, bytes);
    return true;
  }

  /** Calls `admit` once there is room, which is then taken. Returns how to stop waiting. */
  wait(threadId: string, bytes: number, admit: () => void): () => void {
    const waiting: Waiting = { threadId, bytes, admit };
    this.waiting.add(waiting);
    return () => {
      if (this.waiting.delete(waiting)) this.admitWaiting();
    };
  }

  /** Gives room back. */
  release(threadId: string, bytes: number): void {
    this.used -= bytes;
    const left = (this.ofThread.get(threadId) ?? 0) - bytes;
    if (left > 0) this.ofThread.set(threadId, left);
    else this.ofThread.delete(threadId);
    this.admitWaiting();
  }

  /** Lets everybody go who waits: nothing is taken any more. */
  dismissAll(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const { admit } of waiting) admit();
  }

  private admitWaiting(): void {
    if (this.waiting.size === 0) return;
    const full = new Set<string>();
    for (const waiting of this.waiting) {
      const { threadId, bytes, admit } = waiting;
      if (full.has(threadId)) continue;
      if (this.fits(threadId, bytes)) {
        this.waiting.delete(waiting);
        this.take(threadId, bytes);
        admit();
      } else full.add(threadId);
    }
  }
}
