// Package proof proves that an apply would change nothing in a live object, without a
// request for that object. It proves nothing else: if a proof fails, the caller asks the
// server.
//
// There are two proofs:
//
//   - The fingerprint of a live object equals the recorded one, and the server follows the
//     same Rules as then. Applying the same declaration again changes nothing; see
//     Rules.Fingerprint.
//   - A field manager owns exactly the declared fields, with the declared values. This
//     proof needs no record; see Holds.
package proof
