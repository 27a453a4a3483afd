// What leaves the device, and whom it protects from what, in plain words.
import type { Collection, Design, Law } from "../client.ts";
import { atMost, inDigits, percent, plural, whole } from "../shared/numbers.ts";

/** How a report is about an answer: "a report that says tea". */
const VERBS: Record<string, string> = {
  krr: "says",
  hadamard: "fits",
  hash: "fits",
  subset: "names",
  oue: "says yes to",
  fakes: "says",
  dummies: "says",
  tree: "says",
};

export function questionOf({ question, design }: Collection): string {
  if (question !== null) return question;
  if (design.level) return "Which word is yours?";
  if (design.parts.length) return "Which of these answers are yours?";
  if (!design.bounds) return "Which of these answers is yours?";
  const [lower, upper] = design.bounds;
  return `Which number from ${inDigits(lower, 12)} to ${inDigits(upper, 12)} is yours?`;
}

export function verbOf({ law }: Design): string {
  return VERBS[law.family]!;
}

/** The sentence to read before sending. */
export function briefly({ law, bounds, parts, edges }: Design): string {
  const among = AMONG[law.family];
  if (among) return `${law.epsilon0 === Infinity ? among.truth : lightly(law.random)} ${among.brief(law)}`;
  if (law.blank) {
    return `Your device sends nothing but a blank with probability ${percent(law.blank)}; otherwise a noisy report.`;
  }
  if (law.family === "oue") {
    const yes = `to yours, yes with probability ${percent(law.own)}`;
    return `Your report says yes or no to every answer, each at random: ${yes}.`;
  }
  if (law.family === "one of") {
    return `Your range of numbers, coarse or fine, is replaced by a random one with probability ${percent(law.random)}.`;
  }
  if (law.family === "krr") {
    const chance = `with probability ${percent(law.random)}`;
    if (parts.length) return `Your answers are replaced, all at once, by random ones ${chance}.`;
    if (edges) return `Your range of numbers is replaced by a random one ${chance}.`;
    return `Your ${bounds ? "number" : "answer"} is replaced by a random one ${chance}.`;
  }
  return `Your report is drawn at random, without a look at your answer, with probability ${percent(law.random)}.`;
}

/** What laws say whose messages go among others that are nobody's: how the true ones are, and among which others. */
const AMONG: Record<string, { truth: string; brief: (law: Law) => string; more: (law: Law) => string }> = {
  fakes: {
    truth: "Your answer is sent as it is, sealed.",
    brief: (law) => `Beside it go ${plural(law.messages - 1, "message", "messages")} that say nothing about you.`,
    more: (law) =>
      `Your device sends ${whole(law.messages)} sealed messages. One says your answer; each of the others is a blank, ` +
      `or a fake: one of the ${whole(law.k)} answers, drawn from all, each equally likely. Nobody can tell them apart ` +
      "until they are opened, and then no longer whose they are.",
  },
  dummies: {
    truth: "Your answer is sent as it is, sealed.",
    brief: () => "The shuffler mixes it with the answers of others, and with dummies of its own.",
    more: () =>
      "Your device sends your answer in one sealed message. Before anything is handed on, the shuffler adds dummies: " +
      "messages of its own, a random number of them for every answer, sealed like yours. Nobody else can tell them " +
      "from people’s.",
  },
  tree: {
    truth: "Your answer is sent as it is, coarsely and finely, sealed.",
    brief: () => "The shuffler mixes it with the answers of others, and with dummies of its own.",
    more: (law) =>
      `Your device sends ${plural(law.messages, "sealed message", "sealed messages")}, one for each level: in which ` +
      "range of numbers yours lies, from wide ranges to narrow ones. Before anything is handed on, the shuffler adds " +
      "dummies: messages of its own, a random number of them for every range, sealed like yours. All messages are " +
      "mixed, so that nobody can tell which came from one person, or which are dummies.",
  },
  signed: {
    truth: "Your answer is sent as it is, sealed,",
    brief: (law) => `among ${plural(law.messages - 1, "message", "messages")} of noise and blanks.`,
    more: (law) =>
      `Your device sends ${whole(law.messages)} sealed messages. If your answer is yes, one of them is +1; a few more ` +
      "+1 and −1 are added at random, mostly none, and the rest are blanks. The noise that everybody adds together " +
      "hides who holds what.",
  },
  split: {
    truth: "Your number is cut into random parts, each sealed.",
    brief: (law) => `Of the ${whole(law.messages)} parts, none says anything by itself.`,
    more: (law) =>
      `Your number is rounded to one of ${whole(law.k)} points, and a little noise is added, mostly none. Your device ` +
      `sends ${whole(law.messages)} sealed numbers, all drawn at random but for the last, which is such that they add ` +
      "up to yours. Mixed with the numbers of all others, nothing is left but the sum of everybody’s.",
  },
};

function lightly(random: number): string {
  return `Your answer is replaced by a random one with probability ${percent(random)}, and sealed.`;
}

/** How a report is drawn, exactly. */
export function atLength(design: Design): string {
  const { law, parts } = design;
  const among = AMONG[law.family];
  if (among) return law.epsilon0 === Infinity ? among.more(law) : `${drawn(design, law.random)} ${among.more(law)}`;
  if (parts.length && !law.blank) return crossed(design);
  if (design.edges) return binned(design, design.edges);
  if (!law.blank) return design.bounds ? rounded(design, design.bounds) : drawn(design, law.random);
  const inside = 1 - (1 - law.random) / (1 - law.blank);
  return (
    `With probability ${percent(law.blank)} your device sends a blank, which says nothing about you, and nobody can ` +
    `tell a blank from a report until they are opened. Otherwise: ${drawn(design, inside)}`
  );
}

function binned({ law }: Design, edges: readonly number[]): string {
  const [lower, upper] = [edges[0]!, edges.at(-1)!].map((each) => inDigits(each, 12));
  const chance = percent(law.random);
  const ranges = `one of ${whole(law.k)} ranges from ${lower} to ${upper}`;
  if (law.family === "krr") {
    return (
      `Your number falls into ${ranges}; nothing else of it is reported. With probability ${chance}, your range is ` +
      "replaced by one drawn from all of them, each equally likely: by chance it may be yours."
    );
  }
  return (
    `Your number falls into ${ranges}. Your device draws how finely it reports: that range, or a wider one that holds ` +
    `it. Then, with probability ${chance} on average, the range is replaced by one of its kind, drawn at random.`
  );
}

function crossed({ law, parts }: Design): string {
  const sizes = parts.map(({ labels }) => whole(labels.length)).join(" × ");
  return (
    `Your answers make one of ${whole(law.k)} combinations (${sizes}). With probability ${percent(law.random)}, yours ` +
    "is replaced by one drawn from all of them, each equally likely: by chance it may be yours. Otherwise it is " +
    "reported as it is. Nobody is told which of the two happened, and neither are you."
  );
}

function rounded({ law }: Design, bounds: readonly [number, number]): string {
  const [lower, upper] = bounds.map((each) => inDigits(each, 12));
  const all = whole(law.k);
  const points = `to one of its two neighbors among ${all} points from ${lower} to ${upper}`;
  return (
    `Your number is first rounded at random ${law.k === 2 ? `to ${lower} or ${upper}` : points}, to the closer one ` +
    `more often. Then, with probability ${percent(law.random)}, that point is replaced by one drawn from all ${all}, ` +
    "each equally likely."
  );
}

function drawn({ law }: Design, random: number): string {
  const all = whole(law.k);
  const chance = percent(random);
  const size = law.form.width - Number(law.blank > 0);
  switch (law.family === "subset" && size === 1 ? "krr" : law.family) {
    case "hadamard":
      return (
        `Your report is a code that fits some of the ${all} answers and not the others. With probability ${chance} ` +
        "it is drawn from all codes, each equally likely; otherwise from those that fit your answer."
      );
    case "hash":
      return (
        `Your device deals the ${all} answers at random into ` +
        `${plural(Math.round((1 - law.blank) / law.other!), "group", "groups")}, and reports how they were dealt and ` +
        `one of the groups. With probability ${chance} that is any group, each equally likely; otherwise the one ` +
        "that your answer was dealt into, with others."
      );
    case "subset":
      return (
        `Your report names ${whole(size)} of the ${all} answers. With probability ${chance} they are drawn from all, ` +
        "each equally likely; otherwise yours is among them, and the rest is drawn at random."
      );
    case "oue":
      return (
        `Your report says yes or no to each of the ${all} answers, and each yes or no is drawn by itself: yes to ` +
        `yours with probability ${percent(law.own / (1 - law.blank))}, yes to any other with probability ` +
        `${percent(law.other! / (1 - law.blank))}.`
      );
    default:
      return (
        `With probability ${chance}, your answer is replaced by one drawn from all ${all}, each equally likely: by ` +
        "chance it may be yours. Otherwise it is reported as it is. Nobody is told which of the two happened, and " +
        "neither are you."
      );
  }
}

/** What is left if shuffler and analyst work together. */
export function together({ design }: Collection): string {
  const { law, labels, rounds } = design;
  if (law.epsilon0 === Infinity) return "they know your answer. Nothing else protects it.";
  const factor = atMost(Math.exp(law.epsilon0));
  const odds = `it changes the odds of any guess about you by at most a factor of ${factor}${each(design)}.`;
  if (!labels.length) return odds;
  const all = `; after all ${whole(rounds)} rounds, if your answer stays the same, ${certain(design, rounds)}`;
  return (
    `${odds} Where all ${whole(law.k)} answers seemed equally likely, a guess that was right 1 time in ` +
    `${whole(law.k)} is then right ${certain(design, 1)}${rounds > 1 ? all : ""}.`
  );
}

/** How much one report shows by itself, to stand beside its epsilon0. Where it is no answer, or a blank, that is at most. */
export function shownAlone({ law, bounds, edges }: Design): string {
  const exact = law.family === "krr" && !law.blank;
  const share = 100 / (1 + (law.k - 1) * Math.exp(-law.epsilon0));
  const texts = [1, 2, 3, 4, 5].map((digits) => {
    const scaled = share * 10 ** digits;
    return ((exact ? Math.round(scaled) : Math.ceil(scaled - 1e-9)) / 10 ** digits).toFixed(digits);
  });
  const often = texts.find((each) => Number(each) < 100) ?? "100";
  if (exact) return `it is your true ${bounds && !edges ? "number, rounded," : "answer"} with probability ${often} %`;
  return `the best guess from it is right with probability at most ${often} %`;
}

/** How often somebody who has seen so many reports guesses right, at most. */
function certain({ law }: Design, reports: number): string {
  const right = Math.ceil(100 / (1 + (law.k - 1) * Math.exp(-law.epsilon0 * reports)));
  return right >= 100 ? "nearly always" : `at most ${right} times in 100`;
}

/** For factors that hold for a single report, where there are several. */
export function each({ rounds }: Design): string {
  return rounds > 1 ? ` in each of the ${whole(rounds)} rounds` : "";
}
