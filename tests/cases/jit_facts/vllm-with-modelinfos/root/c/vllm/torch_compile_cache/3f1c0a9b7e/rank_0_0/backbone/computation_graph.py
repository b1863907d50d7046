def forward(): pass
