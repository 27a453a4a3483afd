/** What cannot be done, as one sentence for people: what was asked, why not, and what to do. */
export class Refused extends Error {
  override name = "Refused";
}
