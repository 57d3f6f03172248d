// Many subscribers in a process of their own, so that what they hold is not counted as the server's. Plain sockets: they
// look for marks in the bytes and parse nothing. Arguments as JSON: {port, path, token, clients, stalled, mark}.
// Says a line of JSON each time: all that read have seen `event: synced`; all that read have seen the mark; and after
// "resume" on its standard input, all that had stalled have seen it as well.
import { connect } from "node:net";
import { createInterface } from "node:readline";

const { port, path, token, clients, stalled = 0, mark } = JSON.parse(process.argv[2]);
const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\naccept: text/event-stream\r\n\r\n`;
const say = (what, more = {}) => process.stdout.write(`${JSON.stringify({ what, ...more })}\n`);

/** Calls `seen` when the text has come by, wherever it is cut. */
const watch = (socket, text, seen) => {
  let tail = Buffer.alloc(0);
  const look = (data) => {
    const found = data.includes(text) || Buffer.concat([tail, data.subarray(0, text.length)]).includes(text);
    tail = data.subarray(-text.length);
    if (!found) return;
    socket.off("data", look);
    seen();
  };
  socket.on("data", look);
};

const countdown = (from, done) => () => {
  from -= 1;
  if (from === 0) done();
};

let bytes = 0;
const synced = countdown(clients, () => say("synced", { bytes }));
const marked = countdown(clients, () => say("marked", { bytes }));
for (let n = 0; n < clients; n += 1) {
  const socket = connect({ port, host: "127.0.0.1" }, () => socket.write(request));
  socket.on("data", (data) => (bytes += data.length));
  socket.on("error", () => say("lost"));
  watch(socket, "event: synced", synced);
  watch(socket, mark, marked);
}

const sleeping = Array.from({ length: stalled }, () => {
  const socket = connect({ port, host: "127.0.0.1" }, () => socket.write(request)).pause();
  socket.on("error", () => say("lost"));
  return socket;
});
createInterface({ input: process.stdin }).on("line", () => {
  const resumed = countdown(stalled, () => say("resumed"));
  for (const socket of sleeping) {
    watch(socket, mark, resumed);
    socket.resume();
  }
});
