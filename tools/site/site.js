// The home page's live lesson: a click on its link opens the lesson in place of the picture.
document.addEventListener("click", (event) => {
  const lesson = event.target.closest(".live-lesson");
  const link = event.target.closest("a");
  if (!lesson || !link || !link.href.includes("/playground/") || event.ctrlKey || event.metaKey) return;
  if (link.href.includes("/how-to/")) return;
  event.preventDefault();
  const frame = document.createElement("iframe");
  frame.src = link.href;
  frame.title = "A lesson: move the slider, and the simulator runs again";
  lesson.replaceChildren(frame);
});
