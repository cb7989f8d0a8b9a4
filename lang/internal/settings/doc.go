// Package settings merges the values of config files and environments.
//
// A file has several layers: its definition, the defaults of the cloud, the config directory and
// the service, the weakest first. [Merge] puts them over each other, key by key, and drops each
// value that a stronger layer replaces before anything is evaluated. A list replaces a list. Null
// removes a key or a section. A list of lists becomes a key that is written several times.
// Options and Environment evaluate the rest and keep the origin of each value. A [Directory] is
// the config directory.
package settings
