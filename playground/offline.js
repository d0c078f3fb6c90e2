// Answers from a cache, so that the page works without a network. Scripts of the origin can write the cache; so
// a file counts only with the digest that this script holds, which the browser keeps elsewhere.
const KEPT = "narrows-VERSION";
const DIGESTS = {};
const TYPES = {
  css: "text/css; charset=utf-8", html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8",
  json: "application/json", wasm: "application/wasm",
};
const PLAIN = "text/plain; charset=utf-8";
const here = new URL("./", self.location.href).href;

self.addEventListener("install", (event) => event.waitUntil(fill()));
self.addEventListener("activate", (event) => event.waitUntil(forget()));
self.addEventListener("fetch", (event) => {
  const name = fileOf(event.request);
  if (name !== null) event.respondWith(answer(name, event.request));
});

/** The name of the file that a request is for, or null if this script knows nothing of it. */
function fileOf({ method, url }) {
  const address = new URL(url);
  if (method !== "GET" || !url.startsWith(here)) return null;
  const path = `${address.origin}${address.pathname}`.slice(here.length);
  const name = path === "" || path.endsWith("/") ? `${path}index.html` : path;
  return Object.hasOwn(DIGESTS, name) ? name : null;
}

async function answer(name, request) {
  const kept = await (await caches.open(KEPT)).match(new URL(name, here));
  const bytes = kept ? await verify(name, kept) : null;
  return bytes ? response(name, bytes) : fetch(request);
}

/** The bytes of a response if they are those of the file, else null. */
async function verify(name, response) {
  const bytes = await response.arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hex = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex === DIGESTS[name] ? bytes : null;
}

/** A response whose headers don't come from the cache. */
function response(name, bytes) {
  return new Response(bytes, { headers: { "Content-Type": TYPES[name.split(".").pop()] ?? PLAIN } });
}

async function fill() {
  const cache = await caches.open(KEPT);
  await Promise.all(Object.keys(DIGESTS).map((name) => put(cache, name)));
}

async function put(cache, name) {
  const address = new URL(name, here);
  const bytes = await verify(name, await fetch(address, { cache: "no-cache" }));
  if (!bytes) throw new Error(`${name} isn't the file of this version`);
  await cache.put(address, response(name, bytes));
}

/** Deletes the caches of other versions. */
async function forget() {
  for (const name of await caches.keys()) if (name.startsWith("narrows-") && name !== KEPT) await caches.delete(name);
}
