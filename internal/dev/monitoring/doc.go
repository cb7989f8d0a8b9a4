// Package monitoring tests the alert rules and dashboards of examples/drift and of the catalogue with the code of
// Prometheus. It is a Go module of its own, because Prometheus has hundreds of dependencies.
package monitoring
