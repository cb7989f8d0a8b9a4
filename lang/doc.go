// Package lang is the language in which a cloud is written: it reads HCL files,
// checks and evaluates them, and returns a configs.Config.
//
//	config, diags := lang.Load(".", lang.Options{Catalogue: openstack.Catalogue()})
//
// Load goes through these steps; each reports all that it finds wrong, with the
// place in the source, and goes on with what is right:
//
//   - Package source parses the files, in either syntax of HCL, and compares their blocks
//     with package schema, which says what may stand where. It reads the directories that
//     module blocks name in the same way. Definitions come from the catalogue too; a
//     user's own takes the place of the catalogue's of the same name.
//   - References are followed without evaluating anything. They make a graph, whose
//     nodes are blocks as they are written: however often a block is repeated, and its
//     module used, it is one node. The graph gives the order of evaluation, and what
//     each service needs. A reference in a config value that is overridden does not
//     count.
//   - Everything is evaluated, in that order; each block once for every use of its
//     module, which is a frame, and in that for each of its instances, which are
//     items. What only the evaluation shows to be read, such as a role whose name is
//     computed, is evaluated on demand and becomes a dependency as well. Variables get
//     their values first, from outside or from the module block. Dynamic blocks become
//     what they stand for just before the block that they are in is evaluated. Config
//     values are merged key by key: the definition's, then the cloud's defaults, then
//     those of the config directory, then the service's. A list replaces a list; null
//     removes a key or a section; a list of lists is a key that is written several
//     times.
//   - Package check finds the mistakes that only show in the whole: ports that two services
//     take, services that are named and not needed.
//
// Parts that need no evaluator are packages below this one. schema says what may be written,
// internal/source reads files, and internal/diag collects diagnostics. configs is the result, as
// plain data, and addrs has the addresses of blocks and objects. internal/check compares what
// was evaluated, and internal/values knows types and texts of values. catalogue describes
// definitions without evaluating them. syntax parses one file.
// functions has the functions that expressions can call. mark is about values that must not
// be shown, or are not known yet. ini and yaml read files of other programs. What is left here
// is the language itself: which block needs which (graph.go), and the values of blocks
// (evaluate.go, and one file for each kind of block).
//
// # Secrets
//
// A generated secret has no value before apply. Where an expression uses one, a
// token takes its place, which goes through templates and functions such as format
// and jsonencode unchanged; in the Config it has become a reference, a Part of a
// Text. Nothing can be computed from such a value, and it can only be used where a
// Text is wanted: environments and config files. Values of sensitive variables are
// known, and carry a mark through every expression that keeps them to the same
// places. Neither appears in a diagnostic.
//
// # What is not known yet
//
// A data block may be about an object that only the apply brings about. Its value is
// then unknown and carries a mark, which travels as well, and becomes a Part of a Text
// or a place in a manifest that is known later. Whatever decides what there is at all,
// such as for_each, has to be known; so has what is not text. An unknown value without
// that mark comes from a mistake that was reported already, and causes no second
// report; where nothing was reported, that is an error of its own.
package lang
