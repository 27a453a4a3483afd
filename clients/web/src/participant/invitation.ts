// What the address brings: a code and a digest, behind the #, which no server is sent.

/** Read both. A code is taken out of the address bar at once; a digest is no secret, and still pins after a reload. */
export function invitation(): { code?: string; digest?: string } {
  const given = new URLSearchParams(location.hash.slice(1));
  const code = given.get("code");
  const digest = given.get("digest")?.trim().toLowerCase();
  given.delete("code");
  const rest = given.toString();
  if (code !== null) history.replaceState(null, "", location.pathname + location.search + (rest && `#${rest}`));
  return { ...(code === null ? {} : { code }), ...(digest === undefined ? {} : { digest }) };
}
