/** The certificate of `--tls-cert` and `--tls-key`, and the pin by which devices know the server again. */
import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { Effect, Schema } from "effect";

/** The files can't be used. The message names the file and what is wrong with it. */
export class TlsError extends Schema.TaggedError<TlsError>()("TlsError", { message: Schema.String }) {}

export interface Tls {
  /** PEM. */
  readonly cert: string;
  /** PEM. Secret. */
  readonly key: string;
  readonly pin: string;
}

/** `sha256/` and the hash of a certificate's public key (SPKI, DER), base64: it outlives a renewal with the same key. */
export const pinOf = (certificate: X509Certificate): string =>
  `sha256/${createHash("sha256")
    .update(certificate.publicKey.export({ type: "spki", format: "der" }))
    .digest("base64")}`;

const reading = <A>(file: string, what: string, read: (text: string) => A): Effect.Effect<A, TlsError> =>
  Effect.try({
    try: () => read(readFileSync(file, "utf8")),
    catch: (cause) =>
      new TlsError({
        message: `${file} is no ${what} (${cause instanceof Error ? cause.message : "unreadable"}): name a PEM file with it.`,
      }),
  });

/** Reads both files and checks that they belong together. */
export const loadTls = Effect.fnUntraced(function* (
  certFile: string,
  keyFile: string,
): Effect.fn.Return<Tls, TlsError> {
  const { cert, certificate } = yield* reading(certFile, "certificate", (text) => ({
    cert: text,
    certificate: new X509Certificate(text),
  }));
  const { key, isIts } = yield* reading(keyFile, "private key", (text) => ({
    key: text,
    isIts: certificate.checkPrivateKey(createPrivateKey(text)),
  }));
  if (!isIts)
    return yield* new TlsError({ message: `The key in ${keyFile} does not belong to the certificate in ${certFile}.` });
  return { cert, key, pin: pinOf(certificate) };
});
