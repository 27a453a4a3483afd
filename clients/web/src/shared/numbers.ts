// Numbers in words, rounded to the side that promises less.

const SLACK = 1e-12; // a double's own error, so that 0.25 is not 24 %
const [TINY, HUGE] = [1e-9, 1e15]; // beyond these, nobody counts zeros

export function whole(number: number): string {
  return number.toLocaleString("en");
}

/** A probability of noise, in two digits and never too large. */
export function percent(probability: number): string {
  const points = 100 * probability * (1 + SLACK);
  if (points <= 0) return "0\u00a0%";
  const unit = 10 ** Math.min(Math.floor(Math.log10(points)) - 1, 0);
  const shown = Math.floor(points / unit) * unit;
  return `${shown.toLocaleString("en", { maximumSignificantDigits: 2 + Number(points >= 100) })}\u00a0%`;
}

/** A factor or another number that must not be shown too small, in three digits. */
export function atMost(value: number, digits = 3): string {
  if (value <= 0) return "0";
  const unit = Math.max(10 ** (Math.floor(Math.log10(value)) - digits + 1), Number.MIN_VALUE);
  const shown = Math.ceil((value * (1 - SLACK)) / unit) * unit;
  return inDigits(shown, digits);
}

export function inDigits(value: number, digits = 3): string {
  const options: Intl.NumberFormatOptions = { maximumSignificantDigits: digits };
  const size = Math.abs(value);
  if (size >= HUGE || (size && size < TINY)) options.notation = "scientific";
  else if (size >= 1e6) Object.assign(options, { notation: "compact", compactDisplay: "long" });
  return value.toLocaleString("en", options);
}

/** A small probability, as one in so many and never too small. */
export function oneIn(probability: number): string {
  const count = Math.min(1 / probability, Number.MAX_VALUE);
  const near = Math.round(count);
  const below = Math.abs(near - count) <= SLACK * count ? near : Math.floor(count);
  if (below < HUGE) return `1 in ${whole(below)}`;
  const unit = 10 ** (Math.floor(Math.log10(below)) - 2);
  return `1 in ${inDigits(Math.floor((below / unit) * (1 + SLACK)) * unit)}`;
}

export function plural(count: number, one: string, many: string): string {
  return `${whole(count)} ${count === 1 ? one : many}`;
}
