number = "twelve"
nubmer = 12
x {
}
