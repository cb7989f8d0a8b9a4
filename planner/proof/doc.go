// Package proof tells from a live object and what is known of its server that an
// apply would change nothing, without asking. It only ever proves that: what it
// cannot prove, it leaves to the server.
//
// There are two proofs. A fingerprint is of what a manager owns in an object: while
// it is the recorded one, and the server goes by the same Rules, what was applied
// once changes nothing (Rules.Check). Ownership of exactly what is declared, with
// the declared values, needs no record (Holds).
package proof
