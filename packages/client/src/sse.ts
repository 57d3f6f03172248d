/** Server-sent events from bytes, however they are cut: split characters, CR, LF and CRLF, data of several lines. */

export interface SseMessage {
  readonly event: string;
  readonly data: string;
  /** The newest id, of this message or an earlier one. */
  readonly id: string | undefined;
}

/** Of one message, in UTF-16 code units: many times what an event may have. */
const longest = 64 * 1024 * 1024;

export class SseParser {
  readonly #decoder = new TextDecoder();
  #rest = "";
  /** A CR ended the last chunk: a LF at the start of the next one belongs to it. */
  #skipLf = false;
  #event = "";
  #data: Array<string> = [];
  /** Of the data. */
  #held = 0;
  #id: string | undefined;

  /** The messages that are whole with these bytes. */
  push(bytes: Uint8Array): Array<SseMessage> {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === "") return [];
    if (this.#skipLf && text.startsWith("\n")) text = text.slice(1);
    this.#skipLf = text === "" ? false : text.endsWith("\r");
    const messages: Array<SseMessage> = [];
    const lineEnd = /\r\n|\n|\r/g;
    let from = 0;
    for (let end = lineEnd.exec(text); end !== null; end = lineEnd.exec(text)) {
      const line = this.#rest + text.slice(from, end.index);
      this.#rest = "";
      from = lineEnd.lastIndex;
      const message = this.#line(line);
      if (message !== undefined) messages.push(message);
    }
    this.#rest += text.slice(from);
    if (this.#rest.length + this.#held > longest) throw new Error("A message that does not end.");
    return messages;
  }

  #line(line: string): SseMessage | undefined {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line.startsWith(" ", colon + 1) ? colon + 2 : colon + 1);
    if (field === "data") {
      this.#data.push(value);
      this.#held += value.length + 1;
    } else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return undefined;
  }

  #dispatch(): SseMessage | undefined {
    const [event, data] = [this.#event, this.#data];
    this.#event = "";
    this.#data = [];
    this.#held = 0;
    if (data.length === 0) return undefined;
    return { event: event === "" ? "message" : event, data: data.join("\n"), id: this.#id };
  }
}
