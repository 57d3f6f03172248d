// Loaded into a server: each SIGUSR2 sets its clock on the wall an hour back, as people and networks do to a machine.
const hour = 3_600_000;
let behind = 0;
const { now } = Date;
Date.now = () => now() - behind;
globalThis.Date = class extends Date {
  constructor(...given) {
    if (given.length === 0) super(now() - behind);
    else super(...given);
  }
};
process.on("SIGUSR2", () => {
  behind += hour;
});
