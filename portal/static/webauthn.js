"use strict";
// <form data-webauthn="get" hidden>: requests a passkey or a security key and posts the browser's answer. The
// options are in #webauthn-options or at the URL in data-options.
for (const form of document.querySelectorAll("form[data-webauthn]")) {
  const isNew = form.dataset.webauthn === "create";
  form.hidden = !window.PublicKeyCredential?.parseRequestOptionsFromJSON;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const failure = form.querySelector("[data-failure]");
    failure.hidden = true;
    try {
      const { publicKey } = form.dataset.options
        ? await (await fetch(form.dataset.options)).json()
        : JSON.parse(document.getElementById("webauthn-options").textContent);
      if (form.elements.passwordless?.checked) {
        publicKey.authenticatorSelection.residentKey = "required";
        publicKey.authenticatorSelection.requireResidentKey = true;
        publicKey.authenticatorSelection.userVerification = "required";
      }
      const credential = isNew
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });
      form.elements.credential.value = JSON.stringify(credential.toJSON());
      form.submit();
    } catch {
      failure.hidden = false;
    }
  });
}
