"use strict";

/** Sends a request and returns the answer. What failed is an Error with the message of the daemon. */
async function call(path, params, headers = {}) {
  const response = await fetch("/v1/" + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(params),
  });
  const answer = response.status === 204 ? null : await response.json();
  if (response.ok) return answer;
  const { message, hint } = answer.error;
  throw new Error(hint ? message + "\n" + hint : message);
}

/** Opens a session with the token behind the #, and takes the token out of the address bar and the history. */
async function openSession() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return; // there may be a session from before
  history.replaceState(null, "", location.pathname);
  await call("session", {}, { Authorization: "Bearer " + token });
}

async function show() {
  const shown = document.getElementById("status");
  try {
    await openSession();
    // As text: what a repository has in it is never read as HTML.
    shown.textContent = JSON.stringify(await call("status", {}), null, 2);
  } catch (error) {
    shown.textContent = error.message;
  }
}

show();
