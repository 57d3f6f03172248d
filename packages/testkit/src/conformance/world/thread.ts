/** A thread under test: what a person does to it, and what is waited for. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Answer, Delivery, RequestRow } from "@tributary/contracts";
import type { Receipt, ThreadPageView } from "../client/client.ts";
import type { SeenEventOf } from "../client/events.ts";
import { Feed } from "../client/feed.ts";
import type { Driver, Said } from "../driver.ts";
import { lifeline, type Lifeline } from "./lifeline.ts";
import type { World } from "./world.ts";

export interface Sent {
  readonly inputId: string;
  readonly receipt: Receipt;
}

/** What became of an input: the end of its turn, or why there was none. */
export type Outcome = SeenEventOf<"turn.ended"> | SeenEventOf<"input.failed"> | SeenEventOf<"input.unconfirmed">;

type Opened = SeenEventOf<"request.opened">;
type Effect = "allow" | "reject" | "cancel";
type Scope = "once" | "session";

export class Thread {
  readonly world: World;
  readonly driver: Driver;
  readonly id: string;
  readonly cwd: string;
  readonly feed: Feed;
  /** It has no page any more. */
  isDeleted = false;
  readonly #lifelines: Array<Lifeline> = [];

  constructor(world: World, driver: Driver, id: string, cwd: string) {
    this.world = world;
    this.driver = driver;
    this.id = id;
    this.cwd = cwd;
    this.feed = new Feed(id);
  }

  get client() {
    return this.world.client;
  }

  async say(text: string, delivery?: Delivery): Promise<Sent> {
    const inputId = randomUUID();
    const input = { inputId, text, ...(delivery === undefined ? {} : { delivery }) };
    return { inputId, receipt: await this.client.submit(this.id, input) };
  }

  /** The runtime has done what an input asked for, or what it was folded into. */
  done({ inputId }: Sent): Promise<SeenEventOf<"input.done">> {
    return this.feed.next("input.done", (done) => done.inputId === inputId);
  }

  /** The turn that an input is in, once the runtime said so: with the turn's beginning, or with the input's. */
  turnOf(sent: Sent): Promise<string> {
    return this.feed.until(`the turn of the input ${sent.inputId}`, () => this.#turnSaid(sent));
  }

  #turnSaid({ inputId }: Sent): string | undefined {
    const turn = this.feed.all("turn.started").find(({ payload }) => payload.inputIds.includes(inputId));
    const input = this.feed.all("input.started").find(({ payload }) => payload.inputId === inputId);
    return turn?.payload.turnId ?? input?.payload.turnId;
  }

  /** Waits for what becomes of an input. */
  outcome(sent: Sent): Promise<Outcome> {
    const { feed } = this;
    const { inputId } = sent;
    return feed.until<Outcome>(`an outcome of the input ${inputId}`, () => {
      const turnId = this.#turnSaid(sent);
      return (
        feed.all("turn.ended").find(({ payload }) => turnId !== undefined && payload.turnId === turnId) ??
        feed.all("input.failed").find(({ payload }) => payload.inputId === inputId) ??
        feed.all("input.unconfirmed").find(({ payload }) => payload.inputId === inputId)
      );
    });
  }

  /** Waits for the end of an input's turn. */
  async ended(sent: Sent): Promise<SeenEventOf<"turn.ended">["payload"]> {
    const outcome = await this.outcome(sent);
    if (outcome.type !== "turn.ended") throw new Error(`no turn: ${outcome.type} ${JSON.stringify(outcome.payload)}`);
    return outcome.payload;
  }

  /** Says something that asks nothing, and waits for its turn's end. Gives the turn and what was said in it. */
  async run({ prompt }: { readonly prompt: string }) {
    const sent = await this.say(prompt);
    const end = await this.ended(sent);
    return { ...sent, end, turnId: end.turnId, text: this.feed.fold.said(end.turnId) };
  }

  /** The next request after `from` events. */
  request(from = 0): Promise<Opened> {
    return this.feed.next("request.opened", undefined, from);
  }

  /** Chooses an option by what it does. */
  choose(request: Opened, effect: Effect, scope: Scope = "once", key?: string): Promise<Receipt> {
    const optionId = optionOf(request, effect, scope);
    if (optionId === undefined)
      throw new Error(`none of the options is ${effect} ${scope}: ${JSON.stringify(request)}`);
    return this.answer(request, { optionId }, key);
  }

  answer({ payload: { requestId } }: Opened, answer: Answer, key?: string): Promise<Receipt> {
    return this.client.answer(this.id, requestId, answer, key);
  }

  /** Says something that asks once, and answers it. */
  async runAsking({ prompt }: { readonly prompt: string }, effect: Effect, scope: Scope = "once") {
    const from = this.feed.events.length;
    const sent = await this.say(prompt);
    const request = await this.request(from);
    await this.choose(request, effect, scope);
    const end = await this.ended(sent);
    return { ...sent, request, end, turnId: end.turnId, text: this.feed.fold.said(end.turnId) };
  }

  /** A turn that stands in the middle of its text, everything before shown. */
  async holdInText() {
    const name = this.world.name("gate");
    const gate = await this.driver.gate(name);
    const said = this.driver.prompts.gate(name);
    const sent = await this.say(said.prompt);
    await gate.held;
    const turnId = await this.turnOf(sent);
    await this.feed.until(`the text before the gate`, () =>
      this.feed.shown(turnId) === said.before ? true : undefined,
    );
    return { ...sent, turnId, gate, said };
  }

  /** A turn whose shell runs and will not end by itself; a stubborn one also ignores TERM. */
  async holdInTool(how: { readonly isStubborn?: boolean; readonly inSubAgent?: boolean } = {}) {
    const { subAgentShell, shell } = this.driver.prompts;
    const line = await this.lifeline();
    const from = this.feed.events.length;
    const said = (how.inSubAgent === true ? subAgentShell : shell)(
      how.isStubborn === true ? line.stubborn : line.command,
    );
    const sent = await this.say(said.prompt);
    await this.choose(await this.request(from), "allow");
    await line.up;
    return { ...sent, turnId: await this.turnOf(sent), line };
  }

  /** A turn that waits for a person. */
  async holdInRequest(said: Said = this.driver.prompts.shell("echo asked > asked.txt")) {
    const from = this.feed.events.length;
    const sent = await this.say(said.prompt);
    const request = await this.request(from);
    return { ...sent, turnId: await this.turnOf(sent), request, said };
  }

  async lifeline(): Promise<Lifeline> {
    const line = await lifeline(join(this.cwd, this.world.name("lifeline")));
    this.#lifelines.push(line);
    return line;
  }

  /** The one process of the runtime that this thread has. */
  agent(): number {
    const agents = this.world.agents(this.cwd);
    const [first] = agents;
    if (first === undefined || agents.length > 1) throw new Error(`one agent, not ${JSON.stringify(agents)}`);
    return first.pid;
  }

  page(): Promise<ThreadPageView> {
    return this.client.page(this.id);
  }

  requestsIn(state: RequestRow["state"]) {
    return this.client.requests(this.id, state);
  }

  dispose(): void {
    for (const line of this.#lifelines) line.close();
  }
}

/** The option of a request that does this, as people would look for it. */
export const optionOf = ({ payload: { options = [] } }: Opened, effect: Effect, scope: Scope): string | undefined =>
  options.find((option) => option.effect === effect && (effect !== "allow" || option.scope === scope))?.id;
