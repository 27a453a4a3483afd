// X25519 for browsers that have none of their own.
export { DhkemX25519HkdfSha256 as Scripted } from "@hpke/dhkem-x25519";
