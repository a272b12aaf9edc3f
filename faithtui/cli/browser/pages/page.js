// Keys go to the app from the start, and again when the page is come back to.
function focusTerminal() {
  const input = document.querySelector(".xterm-helper-textarea");
  if (input !== null && document.activeElement !== input) input.focus();
}
window.addEventListener("focus", focusTerminal);
new MutationObserver(focusTerminal).observe(document.documentElement, {
  attributes: true, attributeFilter: ["class"], childList: true, subtree: true,
});
