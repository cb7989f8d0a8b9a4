// Package monitoring tests the alert rules and the dashboard of examples/drift with the code of
// Prometheus. It is a Go module of its own, because Prometheus has hundreds of dependencies.
package monitoring
