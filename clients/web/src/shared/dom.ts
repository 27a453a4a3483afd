// Elements, made by name and filled by text: nothing that somebody wrote is ever read as markup.

type Attributes = Record<string, string | number | boolean | null>;

export function byId<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  return document.getElementById(id) as Kind;
}

export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  set(element, attributes);
  element.append(...children);
  return element;
}

/** An element of a drawing. */
export function draw<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, attributes);
  element.append(...children);
  return element;
}

/** What somebody wrote, in its own direction. */
export function quoted(words: string): HTMLElement {
  return make("bdi", {}, `“${words}”`);
}

export function say(id: string, ...children: (Node | string)[]): void {
  byId(id).replaceChildren(...children);
}

export function show(id: string, shown = true): void {
  byId(id).hidden = !shown;
}

/** A notice above everything else; the reader is taken to it. */
export function notify(title: string, text: string, mood: "" | "calm" | "good" = ""): void {
  byId("notice").className = `notice ${mood}`;
  say("notice-title", title);
  say("notice-text", text);
  show("notice");
  byId("notice").focus();
}

/** A button that copies a text, and says so. */
export function copies(id: string, text: () => string): void {
  const button = byId<HTMLButtonElement>(id);
  const label = button.textContent ?? "";
  button.addEventListener("click", async () => {
    const copied = await navigator.clipboard.writeText(text()).then(
      () => true,
      () => false,
    );
    button.textContent = copied ? "Copied" : "This browser does not let pages copy: select the text instead";
    setTimeout(() => (button.textContent = label), 3000);
  });
}

function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, String(value));
  }
}
