// Caches the page for use without a network: answers from the cache and updates it in the background.
const KEPT = "narrows-VERSION";

self.addEventListener("install", (event) => event.waitUntil(caches.open(KEPT).then((kept) => kept.addAll(FILES))));
self.addEventListener("activate", (event) => event.waitUntil(forget()));
self.addEventListener("fetch", (event) => {
  if (event.request.method === "GET") event.respondWith(answered(event.request));
});

async function answered(request) {
  const kept = await (await caches.open(KEPT)).match(request, { ignoreSearch: true });
  return kept ?? fetch(request);
}

/** Deletes the caches of other versions. */
async function forget() {
  for (const name of await caches.keys()) if (name !== KEPT) await caches.delete(name);
}
