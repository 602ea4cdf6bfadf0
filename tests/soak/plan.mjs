// The actions of one round: three users act at the same time, each with one action after the other.
import { makeCall, models } from "./calls.mjs";
import { makeRandom } from "./random.mjs";

const users = 3;
const actionsOfUser = 4;
const callsOfRound = 8;

const loads = [
  {},
  { variant: "simd" },
  { variant: "simd-relaxed" },
  { variant: "threads", threads: 2 },
  { variant: "threads-relaxed", threads: 3 },
];

function makeAction(random, calls) {
  const call = random.pick(calls);
  const load = random.pick(loads); // if the model is not loaded
  const streams = calls.filter(({ model, verb }) => model === call.model && verb === "generate");
  const stream = random.pick(streams);
  const kind = random.whole(0, 99);
  if (kind < 25) return { does: "finish", call, load };
  if (kind < 45) return { does: "abort", call, load, ms: random.pick([0, 1, 5, 30, 200]) };
  if (kind < 57 && stream) return { does: "leave", call: stream, load, tokens: random.pick([1, 2, 20]) };
  if (kind < 67 && stream)
    return { does: "stall", call: stream, load, tokens: random.pick([1, 20]), ms: random.whole(0, 600) };
  if (kind < 70 && stream) return { does: "forget", call: stream, load, tokens: random.pick([0, 1, 5]) };
  if (kind < 78) {
    const requests = random.list(20, () => ({
      call: random.pick(calls.filter(({ model }) => model === call.model)),
      ms: random.chance(0.4) ? random.whole(0, 300) : undefined,
    }));
    return { does: "many", call, load, requests };
  }
  if (kind < 88) return { does: "abortLoad", call, load, ms: random.pick([0, 1, 10, 50, 200, 500]) };
  if (kind < 96) return { does: "dispose", call, load };
  return { does: "drop", call, load };
}

/** Round `number` of the run with `seed`: lists of actions, one for each user. */
export function makeRound(seed, number) {
  const random = makeRandom(seed + Math.imul(number, 7919));
  const names = Object.keys(models);
  const calls = random.list(callsOfRound, (_, i) => makeCall(random, names[i % 3 === 2 ? 1 : 0]));
  return random.list(users, () => random.list(actionsOfUser, () => makeAction(random, calls)));
}
