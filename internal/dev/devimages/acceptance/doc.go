// Package acceptance builds the images as a user does, and starts them in the way that
// Kolla's images are started. It takes root, mmdebstrap, a Debian mirror and minutes, and
// runs only when KOLLA_DEVIMAGES_ACCEPTANCE is set; KOLLA_DEVIMAGES_CACHE can name a cache
// to use.
package acceptance
