// Package addrs names the things of a configuration, as values that can be compared: an object
// in the cluster (Object), a block (Block, and its text form), either of the two (Target), and
// a field of an object (FieldPath). Move, Removal and Import say what became of an address.
//
// Every address has a text form. State, plans and the command line have addresses in this
// form, and the functions that begin with Parse read it.
package addrs
